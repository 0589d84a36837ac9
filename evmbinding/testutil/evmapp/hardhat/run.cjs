// Starts a node of EVMAPPD, runs hardhat's tests on it and what docs/evm.md says of hardhat, and ends it. Hardhat
// compiles copies of the interfaces, next to its own contracts, since it takes no sources from outside its project.
const { spawnSync } = require("node:child_process");
const { cpSync, mkdirSync, readdirSync } = require("node:fs");
const { join } = require("node:path");

async function main() {
  const { Node, keys } = await import("../nodetest/node.mjs");
  const { Wallet } = require("ethers");
  const interfaces = join(__dirname, "../../../contracts");
  mkdirSync(join(__dirname, "contracts/timers"), { recursive: true });
  for (const name of readdirSync(interfaces).filter((n) => n.endsWith(".sol")))
    cpSync(join(interfaces, name), join(__dirname, "contracts/timers", name));
  const node = new Node(process.env.EVMAPPD);
  node.init([new Wallet(keys[0]).address]);
  try {
    await node.start();
    const env = { ...process.env, RPC: node.http, HARDHAT_DISABLE_TELEMETRY_PROMPT: "true" };
    const { status } = spawnSync("npx", ["hardhat", "test"], { cwd: __dirname, env, stdio: "inherit", timeout: 300_000 });
    process.exitCode = status ?? 1;
    const { tutorial } = await import("../nodetest/tutorial.mjs");
    const printed = tutorial(node, "Try it with hardhat", 2);
    console.log(printed);
    if (!/^ *1 passing/m.test(printed)) throw new Error("want 1 passing, as docs/evm.md says");
  } finally {
    await node.remove();
  }
}

main();
