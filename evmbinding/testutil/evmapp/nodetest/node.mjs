// A node of evmappd of one's own, in a temporary home, and the contracts, compiled.
import { spawn, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import solc from "solc";

// The keys of the test accounts are public: never use them elsewhere.
export const keys = [1, 2, 3, 4, 5].map((n) => `0x${n.toString(16).padStart(64, "0")}`);

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

// until calls a function until its answer is true, as long as the chain makes blocks.
export async function until(what, ask, seconds = 60) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) throw new Error(`not within ${seconds} s: ${what}`);
    await sleep(150);
  }
}

const freePort = () =>
  new Promise((done, fail) => {
    const server = createServer().on("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });

export class Node {
  constructor(binary) {
    this.binary = binary;
    this.home = mkdtempSync(join(tmpdir(), "evmappd-"));
  }

  // init writes a genesis with coins for some accounts, in which this node validates, and so do others.
  init(funded, others = []) {
    this.run("init", "--fund", funded.join(","), ...others.flatMap(({ home }) => ["--with", home]));
    for (const other of others) other.configure();
  }

  // configure writes the configuration where there is none: any command does, but start takes its flags' defaults.
  configure() {
    this.run("comet", "version");
  }

  // run runs a command and returns what it prints. A command that asks for a passphrase gets one.
  run(...args) {
    const options = { encoding: "utf8", input: "a passphrase\n", stdio: "pipe", timeout: 60_000, maxBuffer: 1 << 28 };
    return execFileSync(this.binary, [...args, "--home", this.home], options);
  }

  // listen takes the ports of the node, the same for all its life, and returns how peers name it.
  async listen() {
    this.ports ??= await Promise.all(Array.from({ length: 5 }, freePort));
    const { priv_key: { value } } = JSON.parse(readFileSync(join(this.home, "config/node_key.json"), "utf8"));
    // A node's id is the beginning of the hash of its public key, which ends the private one.
    const id = createHash("sha256").update(Buffer.from(value, "base64").subarray(32)).digest("hex").slice(0, 40);
    return `${id}@127.0.0.1:${this.ports[1]}`;
  }

  // start starts the node, and waits for two blocks. Peers are named as listen does.
  async start({ api = "eth,net,web3,debug,timers", indexer = false, peers = [] } = {}) {
    await this.listen();
    const [comet, p2p, http, ws, grpc] = this.ports.map((port) => `127.0.0.1:${port}`);
    [this.http, this.ws, this.comet] = [`http://${http}`, `ws://${ws}`, `tcp://${comet}`];
    const log = openSync(join(this.home, "log"), "a");
    this.child = spawn(this.binary, [
      "start", "--home", this.home, "--rpc.laddr", this.comet, "--p2p.laddr", `tcp://${p2p}`, "--rpc.pprof_laddr", "",
      "--grpc.address", grpc, "--json-rpc.address", http, "--json-rpc.ws-address", ws, "--json-rpc.api", api,
      `--json-rpc.enable-indexer=${indexer}`, "--p2p.persistent_peers", peers.join(","),
    ], { stdio: ["ignore", log, log] });
    this.ended = new Promise((done) => this.child.on("exit", done));
    let first;
    await until("a node that makes blocks", async () => {
      if (this.child.exitCode !== null) throw new Error(`the node ended:\n${this.log().slice(-3000)}`);
      const height = await this.ask("eth_blockNumber").then(Number, () => undefined);
      first ??= height;
      return height > first;
    });
  }

  async stop() {
    this.child?.kill("SIGTERM");
    const late = setTimeout(() => this.child?.kill("SIGKILL"), 20_000);
    await this.ended;
    clearTimeout(late);
  }

  log() {
    return readFileSync(join(this.home, "log"), "utf8");
  }

  async remove() {
    await this.stop();
    rmSync(this.home, { recursive: true });
  }

  // post posts a body, and returns the text of the answer.
  async post(body) {
    const request = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    return (await fetch(this.http, request)).text();
  }

  // raw posts a request, and returns the text of the answer.
  raw(method, ...params) {
    return this.post({ jsonrpc: "2.0", id: 1, method, params });
  }

  async ask(method, ...params) {
    const { result, error } = JSON.parse(await this.raw(method, ...params));
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }
}

// compile compiles Solidity files, by their names, with those that they import from the directories.
export function compile(names, directories) {
  const read = (name) => {
    const dir = directories.find((d) => existsSync(join(d, name)));
    return dir ? { content: readFileSync(join(dir, name), "utf8") } : { error: "no such file" };
  };
  const sources = Object.fromEntries(names.map((name) => [name, read(name)]));
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: "Solidity",
        sources,
        settings: {
          evmVersion: "cancun",
          optimizer: { enabled: true, runs: 200 },
          outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
        },
      }),
      { import: (name) => { const { content, error } = read(name); return error ? { error } : { contents: content }; } },
    ),
  );
  const errors = (output.errors ?? []).filter((e) => e.severity === "error");
  if (errors.length) throw new Error(errors.map((e) => e.formattedMessage).join("\n"));
  const all = {};
  for (const file of Object.values(output.contracts))
    for (const [name, c] of Object.entries(file)) all[name] = { abi: c.abi, bytecode: `0x${c.evm.bytecode.object}` };
  return all;
}
