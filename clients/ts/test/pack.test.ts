// The package as npm packs it: installed into an empty folder, imported there, and used by code that is type-checked,
// the examples of the README among it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

const root = process.cwd();
// The oldest and the newest CosmJS that it is used with (peerDependencies), each in a folder that has nothing else.
const cosmjs = ["0.32.4", "0.39.0"];
const folders = cosmjs.map((version) => fs.mkdtempSync(path.join(os.tmpdir(), `timers-cosmjs-${version}-`)));
const { peerDependencies } = JSON.parse(fs.readFileSync("package.json", "utf8")) as { peerDependencies: Record<string, string> };
const call = (command: string, args: string[], cwd: string): string => {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(" ")}:\n${stdout}${stderr}`);
  }
};

let packed: { filename: string; size: number; files: { path: string }[] };
before(() => {
  [packed] = JSON.parse(call("npm", ["pack", "--json", "--silent", "--pack-destination", folders[0]], root));
  const file = path.join(folders[0], packed.filename);
  folders.forEach((folder, i) => {
    fs.writeFileSync(path.join(folder, "package.json"),
      JSON.stringify({ name: "consumer", private: true, type: "module" }));
    call("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", file,
      ...Object.keys(peerDependencies).map((name) => `${name}@${cosmjs[i]}`)], folder);
  });
});
after(() => folders.forEach((folder) => fs.rmSync(folder, { recursive: true, force: true })));

test("it brings no CosmJS of its own: what a page signs with and what it registers are one", () => {
  folders.forEach((folder, i) => {
    for (const name of Object.keys(peerDependencies)) {
      const { version } = JSON.parse(fs.readFileSync(path.join(folder, "node_modules", name, "package.json"), "utf8"));
      assert.equal(version, cosmjs[i], name);
    }
    assert.ok(!fs.existsSync(path.join(folder, "node_modules/@cosmos-timers/timers/node_modules/@cosmjs")));
  });
});

test("packed from a fresh checkout, without what is generated, it says what to run", () => {
  const fresh = fs.mkdtempSync(path.join(os.tmpdir(), "timers-fresh-"));
  try {
    fs.copyFileSync(path.join(root, "package.json"), path.join(fresh, "package.json"));
    assert.throws(() => call("npm", ["pack", "--dry-run"], fresh), /src\/gen is missing: run make clients-ts in the root of the repository first/);
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
});

test("it holds what is needed, and no more", (t) => {
  t.diagnostic(`the package: ${packed.files.length} files, ${packed.size} bytes`);
  const files = packed.files.map((file) => file.path);
  for (const needed of ["package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts",
    "dist/gen/timers/v1/tx.js"]) {
    assert.ok(files.includes(needed), needed);
  }
  assert.deepEqual(files.filter((file) => !/^(dist\/.*\.(js|d\.ts)|package\.json|README\.md|LICENSE)$/.test(file)), []);
  assert.deepEqual(files.filter((file) => /test|example/.test(file)), []);
});

for (const [i, folder] of folders.entries()) test(`it is used with CosmJS ${cosmjs[i]}`, async () => {
  fs.writeFileSync(path.join(folder, "use.mjs"), `
    import { DirectSecp256k1HdWallet } from "@cosmjs/proto-signing";
    import { AminoTypes, SigningStargateClient } from "@cosmjs/stargate";
    import { every, preview, timersAminoTypes, timersRegistry } from "@cosmos-timers/timers";
    const now = new Date("2030-01-15T00:00:00Z");
    const [{ text }] = preview(every("month@1 09:00", { zone: "Europe/Berlin", now }), 1, { now });
    const registry = timersRegistry();
    console.log(text, registry.lookupType("/timers.v1.MsgScheduleTimer") !== undefined);

    const signer = await DirectSecp256k1HdWallet.generate();
    const [{ address }] = await signer.getAccounts();
    const client = await SigningStargateClient.offline(signer, { registry, aminoTypes: timersAminoTypes(registry) });
    const cancel = { typeUrl: "/timers.v1.MsgCancelTimer", value: { actor: address, id: new Uint8Array([1, 2, 3, 4]) } };
    const signed = await client.sign(address, [cancel], { amount: [], gas: "1" }, "",
      { accountNumber: 0, sequence: 0, chainId: "c" });
    console.log(signed.signatures.length);
  `);
  assert.equal(call("node", ["use.mjs"], folder), "Fri 2030-02-01 09:00:00 +01:00 true\n1\n");
});

/** examples are the blocks of TypeScript in the README. */
function examples(): string[] {
  const text = fs.readFileSync("README.md", "utf8");
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => code);
}

for (const [i, folder] of folders.entries()) test(`code that uses it is type-checked with CosmJS ${cosmjs[i]}, the README's examples too`, () => {
  const blocks = examples();
  assert.ok(blocks.length >= 5, `${blocks.length} examples`);
  // What the examples have before they begin. Names that a block makes itself are its own.
  const before = `
    import type { OfflineSigner } from "@cosmjs/proto-signing";
    declare const rpc: string, me: string, bob: string;
    declare const signer: OfflineSigner;
    declare const amount: { denom: string; amount: string }[];
  `;
  const made = `
    declare const timers: import("@cosmos-timers/timers").TimersClient;
    declare const pay: import("@cosmjs/proto-signing").EncodeObject;
    declare const id: string;
    declare const job: import("@cosmos-timers/timers").Job;
    declare const registry: ReturnType<typeof import("@cosmos-timers/timers").timersRegistry>;
  `;
  blocks.forEach((code, number) => {
    const names = /^import \{([^}]*)\} from "@cosmos-timers\/timers";$/m;
    const exported = ["TimersClient", "NodeAway", "UnknownOutcome", "type Sent", "after", "at", "every", "eventOf",
      "events", "preview", "timersAminoTypes", "timersRegistry", "verifyProof", "type Planned", "timeWords", "clean", "doesWords",
      "statusWords", "waitsWords"];
    const imports = names.test(code) ? "" : `import { ${exported.join(", ")} } from "@cosmos-timers/timers";\n` +
      'import { GasPrice, SigningStargateClient } from "@cosmjs/stargate";\n';
    const own = new Set([...code.matchAll(/^const (\w+)/gm)].map(([, name]) => name));
    const given = made.split("\n").filter((line) => !own.has(/declare const (\w+)/.exec(line)?.[1] ?? "")).join("\n");
    fs.writeFileSync(path.join(folder, `example${number}.ts`), `${imports}${before}${given}\n${code}\nexport {};\n`);
  });
  // A mistake is found: the types are those of the package, and not any.
  fs.writeFileSync(path.join(folder, "mistake.ts"), `
    import { every, type TimersClient } from "@cosmos-timers/timers";
    // @ts-expect-error There is no such option.
    every("1h", { zoen: "UTC" });
    // @ts-expect-error A number of fires is no date.
    every("1h", { count: new Date() });
    export const wrong = (timers: TimersClient): Promise<void> =>
      // @ts-expect-error It is now or next.
      timers.resume("me", "id", { at: "later" });
  `);
  for (const [moduleKind, resolution] of [["nodenext", "nodenext"], ["esnext", "bundler"]]) {
    // The types of CosmJS name protobufjs, which it does not bring: libraries are not checked themselves.
    fs.writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({
      compilerOptions: {
        target: "es2022",
        module: moduleKind,
        moduleResolution: resolution,
        lib: ["es2022", "dom"],
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: [],
      },
      include: ["*.ts"],
    }));
    call(process.execPath, [path.join(root, "node_modules/typescript/bin/tsc"), "-p", "."], folder);
  }
});
