// Reading blocks one after the other, through outages of the node.
import { Comet38Client, HttpClient } from "@cosmjs/tendermint-rpc";
import { BlockEvent, answerOf, textOf } from "./outcome.js";

/** Following says from where to read, and how long to bear with a node. Times are in milliseconds. */
export interface Following {
  /** The first block to read (default: the next one). */
  from?: number;
  /** Following ends without an error when this aborts. */
  signal?: AbortSignal;
  /** For how long a node may be away in one go (default: for ever). Then NodeAway is thrown. */
  timeoutMs?: number;
  /** How long to wait before a node is asked for the next block (default 500). */
  pollMs?: number;
  /** The longest pause between two tries of a node that is away (default 10,000): pauses double from pollMs on. */
  maxPauseMs?: number;
  /** After what time a request without an answer is made again (default 10,000). */
  requestMs?: number;
  /** onAway is called for each try that failed: with what was wrong, and for how long the node has been away. */
  onAway?: (error: Error, forMs: number) => void;
}

/** NodeAway is thrown where a node stayed away for longer than was stated. Following from `from` leaves nothing out. */
export class NodeAway extends Error {
  constructor(readonly from: number | undefined, readonly forMs: number, why: string, options?: ErrorOptions) {
    const missing = from === undefined ? "the next block was" : `block ${from} was`;
    const again = from === undefined ? "" : `. To go on without a gap, follow with { from: ${from} }`;
    super(`the node is away for ${seconds(forMs)}, and ${missing} not read: ${why}${again}`, options);
    this.name = "NodeAway";
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Block is a height, and the events of its transactions that succeeded and of its end. */
export interface Block {
  height: number;
  events: readonly BlockEvent[];
}

/**
 * refusals is how often a node may say that it has no results of a block which it should have, before it is believed.
 */
const refusals = 3;

/**
 * blocks yields each block once, in order. A node that is away is tried again until the signal aborts or the node was
 * away for timeoutMs; what it made meanwhile is read then. It throws at once where no patience helps: if the node is of
 * another chain than before, or keeps a block no more.
 */
export async function* blocks(endpoint: string, options: Following = {}): AsyncGenerator<Block> {
  const line = new Line(endpoint, options);
  let height = options.from;
  for (let latest = 0, refused: number | undefined;;) {
    if (height === undefined || height > latest) {
      const found = await line.ask("status", (comet) => comet.status(), height);
      if (!found) return;
      line.checkChain(found.nodeInfo.network);
      const { latestBlockHeight, earliestBlockHeight = 1 } = found.syncInfo;
      latest = latestBlockHeight;
      height ??= latest + 1;
      if (height < earliestBlockHeight) {
        throw new Error(
          `the node keeps blocks from ${earliestBlockHeight} on, and block ${height} was not read: ` +
            "ask one that keeps more",
        );
      }
      if (height > latest) {
        if (!(await line.pause())) return;
        continue;
      }
    }
    let events: BlockEvent[] | undefined;
    try {
      events = await line.ask("block results", () => blockEvents(line.endpoint, height!), height, height < latest);
    } catch (error) {
      if (!(error instanceof Refused) || refused === height) throw error;
      // A node that was restarted may have fewer blocks than before: it is asked how many.
      refused = height;
      latest = 0;
      continue;
    }
    if (!events) return;
    yield { height, events };
    height++;
  }
}

/**
 * blockEvents are the events of a block's transactions that succeeded, and of its end. CosmJS before 0.34 leaves out
 * those of the end, in which timers fire: so the node is asked without it.
 */
export async function blockEvents(endpoint: string, height: number): Promise<BlockEvent[]> {
  const http = new HttpClient(endpoint.replace(/^ws/, "http"));
  const params = { height: `${height}` };
  const { result } = await http.execute({ jsonrpc: "2.0", id: 1, method: "block_results", params });
  const transactions: { code?: number; events?: BlockEvent[] }[] = result.txs_results ?? [];
  const events = transactions.flatMap(({ code, events }) => (code ? [] : events ?? []));
  return [...events, ...(result.finalize_block_events ?? [])]
    .map(({ type, attributes }) => ({ type, attributes: attributes ?? [] }));
}

/** Refused is what a node answers that should know. */
class Refused extends Error {}

/** Line is the way to a node. */
class Line {
  private readonly comet: Promise<Comet38Client>;
  readonly endpoint: string;
  private chain?: string;

  constructor(endpoint: string, private readonly options: Following) {
    // Over HTTP each request has a connection that works, or is tried again. A node serves both at one address, and
    // CosmJS neither reports that a websocket is lost nor lets go of it.
    this.endpoint = endpoint.replace(/^ws/, "http");
    this.comet = Comet38Client.connect(this.endpoint);
  }

  /** checkChain refuses a node that came back as one of another chain. */
  checkChain(network: string): void {
    this.chain ??= network;
    if (this.chain !== network) {
      throw new Error(`the node at ${this.endpoint} was of chain ${this.chain}, and is of chain ${network} now`);
    }
  }

  /**
   * ask asks until there is an answer, and returns undefined if the signal aborts. Kept says that the node should know:
   * then what it answers is believed after some tries.
   */
  async ask<T>(
    what: string,
    question: (comet: Comet38Client) => Promise<T>,
    height: number | undefined,
    kept = false,
  ): Promise<T | undefined> {
    const { signal, timeoutMs = Infinity, pollMs = 500, maxPauseMs = 10_000, requestMs = 10_000, onAway } =
      this.options;
    const begin = Date.now();
    let away: Error | undefined;
    for (let tries = 1, refused = 0; !signal?.aborted; tries++) {
      // A try without time left would say that it had none, not what was wrong.
      const forMs = Date.now() - begin;
      if (away !== undefined && forMs >= timeoutMs) throw new NodeAway(height, forMs, away.message, { cause: away.cause });
      try {
        return await this.once(question, Math.min(requestMs, timeoutMs - forMs));
      } catch (thrown) {
        if (signal?.aborted) return undefined;
        const answer = answerOf(thrown);
        if (answer !== undefined && kept && ++refused === refusals) {
          throw new Refused(`the node has no results of block ${height}: ${answer}`, { cause: thrown });
        }
        // Away; or it answers and is not ready: the newest block has no results until it is executed.
        const forMs = Date.now() - begin;
        const error = new Error(`${what}: ${textOf(thrown)}`, { cause: thrown });
        if (forMs >= timeoutMs) throw new NodeAway(height, forMs, error.message, { cause: thrown });
        away = error;
        onAway?.(error, forMs);
        const pause = Math.min(Math.max(pollMs, 1) * 2 ** Math.min(tries - 1, 30), maxPauseMs, timeoutMs - forMs);
        if (!(await this.pause(pause))) return undefined;
      }
    }
    return undefined;
  }

  /** pause waits, and tells whether to go on. */
  pause(ms = this.options.pollMs ?? 500): Promise<boolean> {
    return this.within(new Promise(() => undefined), ms).then(() => true, () => !this.options.signal?.aborted);
  }

  private once<T>(question: (comet: Comet38Client) => Promise<T>, ms: number): Promise<T> {
    return this.within(this.comet.then(question), ms);
  }

  /** within is an answer, or an error when the time is over or the signal aborts. */
  private within<T>(answer: Promise<T>, ms: number): Promise<T> {
    const { signal } = this.options;
    return new Promise<T>((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        settle();
      };
      const abort = (): void => end(() => reject(new Error("aborted")));
      const timer = setTimeout(() => end(() => reject(new Error(`no answer within ${seconds(ms)}`))), Math.max(0, ms));
      answer.then((value) => end(() => resolve(value)), (error) => end(() => reject(error)));
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort);
    });
  }
}
