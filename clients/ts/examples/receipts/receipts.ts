// Keeps the proof of each payment that a timer makes, such as a rent, and shows them later.
//
//   receipts.js keep RPC OWNER ID FOLDER   follows the timer of an owner, and keeps one file for each payment
//   receipts.js show RPC FOLDER            verifies what was kept, under headers of a node, and lists it
//
// Who is paid keeps the files: the chain forgets its receipts, and a file proves its payment for ever. Show takes the
// headers from a node that it trusts, which may be another one than the payments came from; a light client will do.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Comet38Client } from "@cosmjs/tendermint-rpc";
import { TimersClient, type TrustedHeader, verifyProof } from "@cosmos-timers/timers";

/** Keeping says from which height on payments are kept, and when to stop. */
export interface Keeping {
  from?: number;
  signal?: AbortSignal;
}

/** keep writes a file for each payment of a timer into a folder, and yields its name, until the timer ends. */
export async function* keep(rpc: string, owner: string, id: string, folder: string, keeping: Keeping = {}):
  AsyncGenerator<string> {
  const timers = await TimersClient.connect(rpc);
  fs.mkdirSync(folder, { recursive: true });
  try {
    for await (const { type, height, id: of, attributes } of timers.follow(owner, keeping)) {
      if (type !== "TimerFired" || of !== id) continue;
      if (attributes.success) {
        const name = path.join(folder, `${height}.json`);
        fs.writeFileSync(name, await timers.proveDelivery(id, height));
        yield name;
      }
      if (attributes.ended === "END_REASON_COMPLETED") return;
    }
  } finally {
    timers.disconnect();
  }
}

/** describe verifies a proof under the header that it names, and says what was paid when. It throws if it was not. */
export function describe(text: string, header: TrustedHeader): string {
  const { timerId, height, position, receipt } = verifyProof(header, text);
  if (!receipt?.success) throw new Error(`timer ${timerId} did not succeed at height ${height}`);
  const { occurrence, index } = receipt;
  // An occurrence by the clock is a second since 1970, and one by blocks is a height.
  const due = occurrence > 1_000_000_000n ? new Date(Number(occurrence) * 1000).toISOString() : `height ${occurrence}`;
  return `payment ${index}, due at ${due}: made at height ${height}, position ${position}, by timer ${timerId}`;
}

/** show describes the files of a folder, oldest first, under headers of a node. */
export async function show(rpc: string, folder: string): Promise<string[]> {
  const node = await Comet38Client.connect(rpc);
  try {
    const lines: string[] = [];
    const heightOf = (name: string): number => Number.parseInt(name);
    for (const name of fs.readdirSync(folder).sort((a, b) => heightOf(a) - heightOf(b))) {
      const text = fs.readFileSync(path.join(folder, name), "utf8");
      const { header } = await node.commit(Number(JSON.parse(text).header_height));
      lines.push(describe(text, header));
    }
    return lines;
  } finally {
    node.disconnect();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what, rpc, ...rest] = process.argv.slice(2);
  if (what === "keep" && rest.length === 3) {
    for await (const name of keep(rpc, rest[0], rest[1], rest[2])) console.log(name);
  } else if (what === "show" && rest.length === 1) {
    for (const line of await show(rpc, rest[0])) console.log(line);
  } else {
    console.error("want keep RPC OWNER ID FOLDER, or show RPC FOLDER");
    process.exit(2);
  }
}
