// Compiles the contracts of this module with solc from npm: node compile.mjs OUT, where OUT gets what is committed.
import { readFileSync, writeFileSync, readdirSync } from "node:fs";
import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const [out, modules] = process.argv.slice(2);
const solc = createRequire(resolve(modules, "x.js"))("solc");
const here = new URL(".", import.meta.url).pathname;
// The interfaces' ABIs go to abi.json. What tests deploy goes to compiled.json: contracts of their own, and the examples.
const folders = { "": here, "examples/": join(here, "examples"), "tests/": join(here, "../testutil/evmapp/contracts") };

const sources = {};
for (const [prefix, dir] of Object.entries(folders))
  for (const name of readdirSync(dir).filter((n) => n.endsWith(".sol")).sort())
    sources[prefix + name] = { content: readFileSync(join(dir, name), "utf8") };

const output = JSON.parse(
  solc.compile(
    JSON.stringify({
      language: "Solidity",
      sources,
      settings: {
        evmVersion: "cancun",
        optimizer: { enabled: true, runs: 200 },
        metadata: { bytecodeHash: "none" },
        outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
      },
    }),
  ),
);
const errors = (output.errors ?? []).filter((e) => e.severity === "error");
for (const e of errors) console.error(e.formattedMessage);
if (errors.length) process.exit(1);

const json = (value) => JSON.stringify(value, null, 1) + "\n";
const [interfaces, deployed] = [{}, {}];
for (const file of Object.keys(sources).sort())
  for (const [name, c] of Object.entries(output.contracts[file] ?? {})) {
    if (!file.includes("/")) interfaces[name] = c.abi;
    else if (c.evm.bytecode.object) deployed[name] = { abi: c.abi, bytecode: "0x" + c.evm.bytecode.object };
  }
const written = { "abi.json": json(interfaces), "compiled.json": json(deployed) };
const sha = (text) => createHash("sha256").update(text).digest("hex");
const sums = [`${sha(solc.version())}  solc ${solc.version()}`];
for (const name of Object.keys(sources).sort()) sums.push(`${sha(sources[name].content)}  ${name}`);
for (const name of Object.keys(written).sort()) sums.push(`${sha(written[name])}  ${name}`);
written["SHA256SUMS"] = sums.join("\n") + "\n";
for (const [name, text] of Object.entries(written)) writeFileSync(join(out, name), text);
