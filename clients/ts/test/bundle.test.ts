// The package in a browser: bundled by esbuild, with nothing of Node.js left, and run where there is none.
import assert from "node:assert/strict";
import fs from "node:fs";
import { builtinModules } from "node:module";
import { test } from "node:test";
import vm from "node:vm";
import zlib from "node:zlib";
import * as esbuild from "esbuild";

/** bundled is what a page loads for some code, as a script that leaves its exports in the global `page`. */
async function bundled(contents: string): Promise<{ code: string; raw: number; zipped: number }> {
  const { outputFiles, metafile, warnings } = await esbuild.build({
    stdin: { contents, resolveDir: "src" },
    bundle: true,
    minify: true,
    platform: "browser",
    format: "iife",
    globalName: "page",
    target: "es2022",
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  assert.deepEqual(warnings, []);
  const builtin = new Set(builtinModules.flatMap((name) => [name, `node:${name}`]));
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    for (const { path } of imports) assert.ok(!builtin.has(path), `${file} imports ${path}`);
  }
  assert.deepEqual(Object.values(metafile.outputs).flatMap((output) => output.imports), []);
  const code = outputFiles[0].text;
  return { code, raw: code.length, zipped: zlib.gzipSync(code).length };
}

/** run runs a script with what a browser has, and none of Node.js. */
function run(code: string): any {
  const page = {
    TextEncoder,
    TextDecoder,
    URL,
    AbortController,
    AbortSignal,
    setTimeout,
    clearTimeout,
    structuredClone,
    crypto,
    atob,
    btoa,
    fetch: () => Promise.reject(new TypeError("no network")),
  };
  const context = vm.createContext({ ...page, result: undefined });
  vm.runInContext("var self = globalThis, window = globalThis;" + code, context);
  return (context as any).page;
}

// The bounds are what is measured, and a tenth.
test("the whole package runs in a browser, and its size is bounded", async (t) => {
  const { code, raw, zipped } = await bundled('export * from "./index.ts";');
  t.diagnostic(`the whole package: ${raw} bytes, ${zipped} compressed`);
  assert.ok(zipped < 330_000, `${zipped} bytes compressed`);
  const page = run(code);
  const timing = page.every("month@1 09:00", { zone: "Europe/Berlin", for: "1y" }).compile({
    now: new Date("2030-01-15T00:00:00Z"),
  });
  assert.equal(timing.trigger.calendar.offsetMinutes, 60);
  const registry = page.timersRegistry();
  const message = { typeUrl: "/timers.v1.MsgRunTimer", value: { sender: "timer1", id: "ab", actor: "" } };
  assert.deepEqual({ ...page.timersAminoTypes(registry).toAmino(message).value }, { sender: "timer1", id: "ab" });
  const client = await page.TimersClient.connect("http://127.0.0.1:1");
  await assert.rejects(client.follow("alice", { timeoutMs: 1 }).next(), /^NodeAway: the node is away for .*no network/);
});

test("a page that shows when timers are due loads no more than that takes", async (t) => {
  const { code, raw, zipped } = await bundled('export { every, preview } from "./index.ts";');
  t.diagnostic(`every and preview: ${raw} bytes, ${zipped} compressed`);
  assert.ok(zipped < 18_000, `${zipped} bytes compressed`);
  const page = run(code);
  const now = new Date("2030-01-15T00:00:00Z");
  const [{ text }] = page.preview(page.every("month@1 09:00", { zone: "Europe/Berlin", now }), 1, { now });
  assert.equal(text, "Fri 2030-02-01 09:00:00 +01:00");
});

test("a page that verifies proofs loads no more than that takes", async (t) => {
  const { code, raw, zipped } = await bundled('export { verifyProof } from "./index.ts";');
  t.diagnostic(`verifyProof: ${raw} bytes, ${zipped} compressed`);
  assert.ok(zipped < 32_000, `${zipped} bytes compressed`);
  const { headers, cases } = JSON.parse(fs.readFileSync("../../x/timers/client/proof/testdata/vectors.json", "utf8"));
  const page = run(code);
  for (const { header, error, proof } of cases) {
    const { chain_id: chainId, height, app_hash: appHash } = headers[header];
    const verify = (): any => page.verifyProof({ chainId, height: BigInt(height), appHash }, proof);
    if (error === undefined) assert.equal(verify().chainId, "lab");
    else assert.throws(verify);
  }
});
