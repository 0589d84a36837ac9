// Stands for a wallet of a browser in tests: one with Keplr's interface and the account of a mnemonic. It signs as
// Keplr does: direct, or amino JSON alone as for a Ledger, for a chain that was suggested and enabled, and unless the
// user rejects.
import { Secp256k1HdWallet } from "@cosmjs/amino";
import { DirectSecp256k1HdWallet, type OfflineSigner } from "@cosmjs/proto-signing";
import type { Wallet } from "../examples/wallet/logic.js";

export interface Owner {
  mnemonic: string;
  prefix: string;
  /** ledger: it signs amino JSON alone. */
  ledger: boolean;
}

/** FakeWallet is the wallet, what its user does, and in which modes it signed. */
export interface FakeWallet extends Wallet {
  rejects: boolean;
  signed: string[];
}

export function fakeWallet({ mnemonic, prefix, ledger }: Owner): FakeWallet {
  let suggested = "";
  let enabled = "";
  const known = (chainId: string, where: string): void => {
    if (chainId !== where) throw new Error(`There is no modular chain info for ${chainId}`);
  };
  const note = (mode: string, signed: string): void => {
    known(signed, enabled);
    if (wallet.rejects) throw new Error("Request rejected");
    wallet.signed.push(mode);
  };
  const amino = Secp256k1HdWallet.fromMnemonic(mnemonic, { prefix });
  const direct = DirectSecp256k1HdWallet.fromMnemonic(mnemonic, { prefix });
  const onlyAmino: OfflineSigner = {
    getAccounts: async () => (await amino).getAccounts(),
    signAmino: async (signer, doc) => { note("amino", doc.chain_id); return (await amino).signAmino(signer, doc); },
  };
  const both: OfflineSigner = {
    ...onlyAmino,
    signDirect: async (signer, doc) => {
      if (ledger) throw new Error("a Ledger signs no direct documents");
      note("direct", doc.chainId);
      return (await direct).signDirect(signer, doc);
    },
  };
  const wallet: FakeWallet = {
    rejects: false,
    signed: [],
    experimentalSuggestChain: async (chain: any) => {
      if (chain.bech32Config.bech32PrefixAccAddr !== prefix) throw new Error("another prefix");
      suggested = chain.chainId;
    },
    enable: async (chainId) => { known(chainId, suggested); enabled = chainId; },
    getKey: async (chainId) => {
      known(chainId, enabled);
      return { isNanoLedger: ledger, bech32Address: (await (await amino).getAccounts())[0].address };
    },
    getOfflineSigner: (chainId) => { known(chainId, enabled); return both; },
    getOfflineSignerOnlyAmino: (chainId) => { known(chainId, enabled); return onlyAmino; },
  };
  return wallet;
}

// In a page of the browser's test it is the wallet of the window, which says whose account it has, and under which name.
const page = globalThis as any;
if (page.walletOf) page[page.walletOf.name ?? "keplr"] = page.wallet = fakeWallet(page.walletOf);
