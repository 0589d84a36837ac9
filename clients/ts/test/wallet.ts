// Stands for a browser's wallet in a test: window.keplr with the account of a mnemonic. It signs as Keplr does: direct, or
// amino JSON as for a Ledger, for a chain that was suggested and enabled, and unless the user rejects.
import { Secp256k1HdWallet } from "@cosmjs/amino";
import { DirectSecp256k1HdWallet, type OfflineSigner } from "@cosmjs/proto-signing";

const { mnemonic, prefix, ledger } = (window as any).walletOf as { mnemonic: string; prefix: string; ledger: boolean };
let suggested = "";
let enabled = "";
const state = { rejects: false, signed: [] as string[] };

const known = (chainId: string, where: string): void => {
  if (chainId !== where) throw new Error(`There is no modular chain info for ${chainId}`);
};

async function signerOf(chainId: string): Promise<OfflineSigner> {
  known(chainId, enabled);
  const note = (mode: string, signed: string): void => {
    known(signed, enabled);
    if (state.rejects) throw new Error("Request rejected");
    state.signed.push(mode);
  };
  if (ledger) {
    const wallet = await Secp256k1HdWallet.fromMnemonic(mnemonic, { prefix });
    return {
      getAccounts: () => wallet.getAccounts(),
      signAmino: async (signer, doc) => { note("amino", doc.chain_id); return wallet.signAmino(signer, doc); },
    };
  }
  const wallet = await DirectSecp256k1HdWallet.fromMnemonic(mnemonic, { prefix });
  return {
    getAccounts: () => wallet.getAccounts(),
    signDirect: async (signer, doc) => { note("direct", doc.chainId); return wallet.signDirect(signer, doc); },
  };
}

(window as any).wallet = state;
(window as any).keplr = {
  experimentalSuggestChain: async (chain: any) => {
    if (chain.bech32Config.bech32PrefixAccAddr !== prefix) throw new Error("another prefix");
    suggested = chain.chainId;
  },
  enable: async (chainId: string) => { known(chainId, suggested); enabled = chainId; },
  getOfflineSignerAuto: signerOf,
};
