// What becomes of a transaction: it is sent, and looked for until it is in a block or its deadline is over.
import { sha256 } from "@cosmjs/crypto";
import { fromHex, toHex } from "@cosmjs/encoding";
import { Comet38Client } from "@cosmjs/tendermint-rpc";

/** BlockEvent is an event as a node states it. */
export interface BlockEvent {
  type: string;
  attributes: readonly { key: string; value: string }[];
}

/** Sent is a transaction on its way: its hash, and the node's height before it was sent. */
export interface Sent {
  hash: string;
  since: number;
}

/**
 * Outcome is what became of a transaction. "included" means that it succeeded. "failed" means that it is in a block and did
 * nothing but pay its fee. "unknown" means that it may be in a block, or still get into one: why says what stood in the
 * way, and findOut what to do.
 */
export type Outcome =
  | { end: "included"; hash: string; height: number; events: readonly BlockEvent[] }
  | { end: "failed"; hash: string; height: number; reason: string }
  | { end: "unknown"; hash: string; since: number; why: string; findOut: string };

/** Waiting says how long to wait. */
export interface Waiting {
  /** For how long a node is asked, its outages included (default 60,000). */
  timeoutMs?: number;
  /** How long to wait before it is asked again (default 500). */
  pollMs?: number;
  signal?: AbortSignal;
}

/** UnknownOutcome is thrown where a transaction was sent and it is not known what became of it. */
export class UnknownOutcome extends Error {
  constructor(readonly outcome: Extract<Outcome, { end: "unknown" }>) {
    super(`transaction ${outcome.hash} was sent, and what became of it is unknown: ${outcome.why}. ${outcome.findOut}`);
    this.name = "UnknownOutcome";
  }
}

/** Patience is how long a node that is away is waited for. */
export class Patience {
  private deadline = 0;

  constructor(private readonly options: Waiting = {}) {
    this.renew();
  }

  /** renew lets the time begin anew. */
  renew(): void {
    this.deadline = Date.now() + (this.options.timeoutMs ?? 60_000);
  }

  get aborted(): boolean {
    return this.options.signal?.aborted ?? false;
  }

  get over(): boolean {
    return this.aborted || Date.now() >= this.deadline;
  }

  /** ask waits for an answer, and no longer than there is time: a node that hangs answers nothing. */
  async ask<T>(answer: Promise<T>): Promise<T> {
    const { promise, cancel } = this.sleep(this.deadline - Date.now());
    try {
      return await Promise.race([answer, promise.then(() => { throw new Error("the node does not answer"); })]);
    } finally {
      cancel();
    }
  }

  /** pause waits until the node is to be asked again. */
  async pause(): Promise<void> {
    await this.sleep(Math.min(this.options.pollMs ?? 500, this.deadline - Date.now())).promise;
  }

  private sleep(ms: number): { promise: Promise<void>; cancel: () => void } {
    let cancel = (): void => {};
    const promise = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, ms));
      cancel = () => { clearTimeout(timer); this.options.signal?.removeEventListener("abort", cancel); resolve(); };
      if (this.aborted) cancel();
      else this.options.signal?.addEventListener("abort", cancel);
    });
    return { promise, cancel };
  }
}

/** hashOf is the hash by which nodes name a transaction. */
export function hashOf(tx: Uint8Array): string {
  return toHex(sha256(tx)).toUpperCase();
}

/** answerOf is what a node answered where that is an error; undefined if it did not answer. The RPC has no codes for these. */
export function answerOf(error: unknown): string | undefined {
  try {
    const { code, message, data } = JSON.parse((error as Error).message);
    return typeof code === "number" ? String(data || message) : undefined;
  } catch {
    return undefined;
  }
}

/** textOf is an error in words. */
export function textOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string } }).cause?.code;
  return answerOf(error) ?? String((error as Error).message) + (cause ? ` (${cause})` : "");
}

/**
 * outcomeOf looks for a transaction: in the node's index, or where that has none in the blocks since it was sent. While the
 * node is away it waits.
 */
export async function outcomeOf(comet: Comet38Client, sent: Sent, patience: Patience): Promise<Outcome> {
  const search = new Search(comet, sent, patience);
  for (;;) {
    try {
      const found = await search.look();
      if (found) return found;
      search.why = "it is in no block yet";
    } catch (error) {
      search.why = `the node is away: ${textOf(error)}`;
    }
    if (patience.over) return search.unknown();
    await patience.pause();
  }
}

interface Result {
  code: number;
  log?: string;
  events: readonly BlockEvent[];
}

class Search {
  why = "it was not looked for";
  private indexed = true;
  private next: number;

  constructor(private readonly comet: Comet38Client, private readonly sent: Sent, private readonly patience: Patience) {
    this.next = sent.since + 1;
  }

  unknown(): Outcome {
    const { hash, since } = this.sent;
    return {
      end: "unknown", hash, since, why: this.why,
      findOut: `Ask again with outcome({ hash, since: ${since} }), or another node for the transaction; do not send it anew before.`,
    };
  }

  /** look returns what is known, undefined if the transaction is in no block yet, and throws if the node is away. */
  async look(): Promise<Outcome | undefined> {
    if (this.indexed) {
      try {
        const found = await this.patience.ask(this.comet.tx({ hash: fromHex(this.sent.hash) }));
        return this.ended(found.height, found.result);
      } catch (error) {
        const answer = answerOf(error);
        if (answer === undefined) throw error;
        if (answer.includes("not found")) return undefined;
        this.indexed = false; // "transaction indexing is disabled", or an index that can't be asked
      }
    }
    return this.lookInBlocks();
  }

  private async lookInBlocks(): Promise<Outcome | undefined> {
    const { latestBlockHeight: latest } = (await this.patience.ask(this.comet.status())).syncInfo;
    for (; this.next <= latest; this.next++) {
      try {
        const { block } = await this.patience.ask(this.comet.block(this.next));
        const at = block.txs.findIndex((tx) => hashOf(tx) === this.sent.hash);
        if (at < 0) continue;
        const { results } = await this.patience.ask(this.comet.blockResults(this.next));
        return this.ended(this.next, results[at]);
      } catch (error) {
        const answer = answerOf(error);
        if (answer === undefined) throw error;
        if (this.next === latest) return undefined; // the newest block has no results until it is executed
        this.why = `the node has no index, and does not keep block ${this.next}: ${answer}`;
        return this.unknown();
      }
    }
    return undefined;
  }

  private ended(height: number, { code, log, events }: Result): Outcome {
    const { hash } = this.sent;
    return code === 0 ? { end: "included", hash, height, events } : { end: "failed", hash, height, reason: reasonIn(log || `code ${code}`) };
  }
}

/** reasonIn is the chain's reason in a log or an error, without what carries it and what is about the node's sources and gas. */
export function reasonIn(log: string): string {
  return log.replace(/^Query failed with \(\d+\): /, "").replace(/^.*? desc = /, "").replace(/\s*\[[^\s\]]*\.go:\d+\]/g, "")
    .replace(/ with gas (wanted|used): .*$/, "").replace(/^failed to execute message; message index: (\d+): /, (_, at: string) => at === "0" ? "" : `message ${at}: `)
    .replace(/: (invalid|unknown) request$/, "");
}
