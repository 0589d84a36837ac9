// Schedules payments with the wallet of the browser, lists the timers of its account, and follows what becomes of them.
// The node is that of a local network, or that of the address: ?rpc=https://...&rest=https://...
import type { OfflineSigner } from "@cosmjs/proto-signing";
import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";
import { TimersClient, timersAminoTypes, timersRegistry } from "@cosmos-timers/timers";

/** Wallet is what the page uses of Keplr's interface, which other wallets have too. */
interface Wallet {
  experimentalSuggestChain(chain: object): Promise<void>;
  enable(chainId: string): Promise<void>;
  getOfflineSignerAuto(chainId: string): Promise<OfflineSigner>;
}

const address = new URLSearchParams(location.search);
const rpc = address.get("rpc") ?? "http://127.0.0.1:27001";
const rest = address.get("rest") ?? "http://127.0.0.1:27002";
const denom = "utmr";

const at = <T extends HTMLElement>(selector: string): T => document.querySelector<T>(selector)!;
const button = at<HTMLButtonElement>("#job button");

/** attempt shows why something failed: the wallet's reason, or the chain's. */
async function attempt(what: () => Promise<void>): Promise<void> {
  at("#problem").textContent = "";
  try {
    await what();
  } catch (error) {
    at("#problem").textContent = error instanceof Error ? error.message : String(error);
  }
}

/** description is what a wallet wants to know of a chain that it does not have yet. */
function description(chainId: string): object {
  const currency = { coinDenom: "TMR", coinMinimalDenom: denom, coinDecimals: 6 };
  const prefixes = { AccAddr: "timer", AccPub: "timerpub", ValAddr: "timervaloper", ValPub: "timervaloperpub", ConsAddr: "timervalcons", ConsPub: "timervalconspub" };
  return {
    chainId, chainName: chainId, rpc, rest, bip44: { coinType: 118 },
    bech32Config: Object.fromEntries(Object.entries(prefixes).map(([name, prefix]) => ["bech32Prefix" + name, prefix])),
    currencies: [currency], stakeCurrency: currency,
    feeCurrencies: [{ ...currency, gasPriceStep: { low: 0.001, average: 0.001, high: 0.002 } }],
  };
}

async function connect(): Promise<void> {
  const wallet = (window as { keplr?: Wallet }).keplr;
  if (!wallet) throw new Error("This browser has no wallet: install Keplr, or one with its interface.");
  const chainId = (await (await TimersClient.connect(rpc)).comet.status()).nodeInfo.network;
  await wallet.experimentalSuggestChain(description(chainId));
  await wallet.enable(chainId);
  const signer = await wallet.getOfflineSignerAuto(chainId); // amino for a Ledger, direct otherwise
  const registry = timersRegistry();
  const signing = await SigningStargateClient.connectWithSigner(rpc, signer, {
    registry, aminoTypes: timersAminoTypes(registry), gasPrice: GasPrice.fromString("0.001" + denom),
  });
  const timers = await TimersClient.connect(rpc, signing);
  const [{ address: owner }] = await signer.getAccounts();

  at("#account").textContent = owner;
  at("#connect").hidden = true;
  at("#job").addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(() => schedule(timers, owner));
  });
  button.disabled = false;
  void attempt(() => follow(timers, owner));
  await list(timers, owner);
}

async function schedule(timers: TimersClient, owner: string): Promise<void> {
  const entered = new FormData(at<HTMLFormElement>("#job"));
  const [recipient, amount, minutes, label] = ["recipient", "amount", "minutes", "label"].map((name) => String(entered.get(name)));
  const pay = {
    typeUrl: "/cosmos.bank.v1beta1.MsgSend",
    value: { fromAddress: owner, toAddress: recipient, amount: [{ denom, amount }] },
  };
  button.disabled = true;
  try {
    await timers.schedule(owner, { messages: [pay], trigger: { after: await timers.blocks(Number(minutes)) }, label }, "auto", {
      onSent: ({ hash }) => {
        const line = document.createElement("li");
        line.textContent = `sent, transaction ${hash}`;
        at("#events").prepend(line);
      },
    });
  } finally {
    button.disabled = false;
  }
}

/** follow shows each event of the account's timers, and the timers as they are after it. */
async function follow(timers: TimersClient, owner: string): Promise<void> {
  for await (const { type, height, id, attributes } of timers.follow(owner)) {
    const outcome = type !== "TimerFired" ? "" : attributes.success ? ": it succeeded" : ": it failed";
    const line = document.createElement("li");
    line.textContent = `block ${height}: ${type} ${id.slice(0, 8)} ${attributes.label ?? ""}${outcome}`;
    at("#events").prepend(line);
    await list(timers, owner);
  }
}

async function list(timers: TimersClient, owner: string): Promise<void> {
  const lines = (await timers.list(owner)).map(({ id, label, due }) => {
    const line = document.createElement("li");
    const cancel = document.createElement("button");
    cancel.textContent = "Cancel";
    cancel.onclick = () => void attempt(() => timers.cancel(owner, [id]));
    line.append(`${id.slice(0, 8)} ${label}, due at height ${due} `, cancel);
    return line;
  });
  at("#timers").replaceChildren(...lines);
}

at("#connect").onclick = () => void attempt(connect);
