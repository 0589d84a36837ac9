// What the tests share: one node, accounts with coins, contracts, and clients of viem and ethers.
import assert from "node:assert/strict";
import { ethers } from "ethers";
import { createPublicClient, createWalletClient, defineChain, encodeFunctionData, http, parseEther, webSocket } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hex } from "./forms.mjs";
import { Node, compile, keys, until } from "./node.mjs";

const here = new URL(".", import.meta.url).pathname;
export const contracts = compile(["Alarm.sol", "Booker.sol"], [`${here}../../../contracts`, `${here}../contracts`]);
export const timersABI = contracts.ITimers.abi;
export const TIMERS = "0x0000000000000000000000000000000000001215";
export const accounts = keys.map((key) => privateKeyToAccount(key));
export const indexer = process.env.INDEXER === "1";
export * from "./forms.mjs";

export const node = new Node(process.env.EVMAPPD);
node.init(accounts.map(({ address }) => address));
export let chain, pub, live, provider, wallets;

export async function start(options = {}) {
  await node.start({ indexer, ...options });
  chain = defineChain({
    id: 9001, name: "evmapp", nativeCurrency: { name: "Example", symbol: "EXA", decimals: 18 },
    rpcUrls: { default: { http: [node.http], webSocket: [node.ws] } },
  });
  pub = createPublicClient({ chain, transport: http(), pollingInterval: 200 });
  live = createPublicClient({ chain, transport: webSocket(node.ws, { reconnect: false }) });
  provider = new ethers.JsonRpcProvider(node.http, 9001, { staticNetwork: true, cacheTimeout: -1, polling: true, pollingInterval: 200 });
  wallets = accounts.map((account) => createWalletClient({ chain, account, transport: http() }));
}

export async function stop() {
  provider?.destroy();
  await node.stop(); // The websocket ends with it.
}

// send sends a transaction and returns its receipt, which must be of a success. The gas is stated: viem would ask
// eth_fillTransaction, which cosmos/evm 0.6.3 answers for the state of an early block.
export async function send(wallet, request) {
  const { data, to, value } = request;
  const estimate = async () => node.ask("eth_estimateGas", { from: wallet.account.address, to, data, value: hex(value ?? 0n) });
  const gas = request.gas ?? (BigInt(await estimate()) * 5n) / 4n;
  const hash = await wallet.sendTransaction({ ...request, gas });
  const receipt = await pub.waitForTransactionReceipt({ hash });
  assert.equal(receipt.status, "success", JSON.stringify(request, text));
  return receipt;
}

export const text = (_, value) => (typeof value === "bigint" ? value.toString() : value);

export async function write(wallet, contract, functionName, args = [], more = {}) {
  return send(wallet, { to: contract.address, data: encodeFunctionData({ abi: contract.abi, functionName, args }), ...more });
}

export const read = (contract, functionName, args = []) => pub.readContract({ ...contract, functionName, args });

export async function deploy(name, value = parseEther("1")) {
  const { abi, bytecode } = contracts[name];
  const payable = abi.some((e) => e.type === "constructor" && e.stateMutability === "payable");
  const { contractAddress } = await send(wallets[0], { data: bytecode, value: payable ? value : 0n, gas: 4_000_000n });
  if (!payable) await send(wallets[0], { to: contractAddress, value });
  return { address: contractAddress, abi };
}

// fires are those to or from an address in the blocks from one on, as transactions with their receipts.
export async function firesOf(address, from, count, seconds) {
  const found = [];
  let next = BigInt(from);
  await until(`${count} fires of ${address}`, async () => {
    for (const head = await pub.getBlockNumber(); next <= head; next++) {
      const block = await pub.getBlock({ blockNumber: next, includeTransactions: true });
      for (const tx of block.transactions)
        if (BigInt(tx.s) === 0n && [tx.from, tx.to].includes(address.toLowerCase()))
          found.push({ tx, block, receipt: await pub.getTransactionReceipt({ hash: tx.hash }) });
    }
    return found.length >= count;
  }, seconds);
  return found;
}
