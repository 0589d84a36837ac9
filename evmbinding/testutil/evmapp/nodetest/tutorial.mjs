// Runs what docs/evm.md has the reader do, on a node that runs already.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

const evmbinding = resolve(new URL("../../..", import.meta.url).pathname);

// tutorial follows a section, which has so many commands, and returns what the last one prints.
export function tutorial(node, section, commands) {
  const document = readFileSync(join(evmbinding, "docs/evm.md"), "utf8");
  const [, part] = document.split(`\n## ${section}\n`);
  const dir = mkdtempSync(join(tmpdir(), "tutorial-"));
  const env = { ...process.env, PATH: `${dirname(node.binary)}:${process.env.PATH}`, RPC: node.http, EVMBINDING: evmbinding };
  let [printed, ran] = ["", 0];
  try {
    for (const [, before, kind, block] of part.split("\n## ")[0].matchAll(/([^`\n]*(?:`[^`\n]+`)?[^`\n]*)\n\n```(\w+)\n([\s\S]*?)```/g)) {
      const name = before.match(/`([^`]+\.(?:sol|mjs|cjs))`:$/)?.[1];
      if (kind === "sh") {
        // The command was built, and the node runs already.
        if (block.startsWith("cd evmbinding/testutil/evmapp && go install")) continue;
        const script = block.replace(/^evmappd start .*$/m, "");
        const options = { cwd: dir, env, encoding: "utf8", stdio: "pipe", timeout: 120_000 };
        printed = execFileSync("bash", ["-euo", "pipefail", "-c", script], options);
        ran++;
      } else {
        assert.ok(name, `the file of a block: ${before}`);
        mkdirSync(dirname(join(dir, name)), { recursive: true });
        writeFileSync(join(dir, name), block);
      }
    }
  } finally {
    rmSync(dir, { recursive: true });
  }
  assert.equal(ran, commands, `commands of ${section}`);
  return printed;
}
