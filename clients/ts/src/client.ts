// A client of the module: it schedules, lists, asks for prices, and follows what becomes of timers.
import { QueryClient, SigningStargateClient, StdFee, calculateFee, createProtobufRpcClient } from "@cosmjs/stargate";
import { EncodeObject } from "@cosmjs/proto-signing";
import { Comet38Client } from "@cosmjs/tendermint-rpc";
import { QueryClientImpl as BankQueryClientImpl } from "cosmjs-types/cosmos/bank/v1beta1/query";
import { TxRaw } from "cosmjs-types/cosmos/tx/v1beta1/tx";
import { defaultMaxCharge, gasLimitFor } from "./charge.js";
import { Following, blockEvents, blocks } from "./follow.js";
import { Any } from "./gen/google/protobuf/any.js";
import { AccountPayload, Bid, OnUnfunded, Repeat, Retry, TimerSpec, Trigger, WatchKey } from "./gen/timers/v1/core.js";
import { QueryClientImpl, QueryEstimateRequest, QueryEstimateResponse, QueryOccurrencesRequest,
  QueryOccurrencesResponse, QueryWatchKeyRequest,
  TimerInfo } from "./gen/timers/v1/query.js";
import { MsgScheduleTimer, MsgUpdateTimer, ResumeAt } from "./gen/timers/v1/tx.js";
import { guards } from "./guard.js";
import { messageTypes } from "./messages.js";
import { BlockEvent, Outcome, Patience, Sent, UnknownOutcome, Waiting, answerOf, hashOf, outcomeOf,
  reasonIn } from "./outcome.js";
import { type Pace } from "./pace.js";
import { Proving, prove } from "./proof.js";
import { RetryTerms, When, isByTime, onUnfundedOf, retryOf } from "./when.js";

/**
 * leadBlocks is the least distance from the latest block to a due height: one takes the transaction, and none fires in
 * it.
 */
const leadBlocks = 2;

/** Job is what an owner states of a timer, its spec: what is left out takes its default. */
export interface Job {
  /** Messages that the chain runs as the owner. */
  messages: EncodeObject[];
  /**
   * trigger says when, as people say it (every, at, after), or as the chain has it: also when watched state changes.
   */
  trigger: When | Partial<Trigger>;
  /** repeat is what a timer that repeats states of its occurrences, beside what every says. */
  repeat?: Partial<Repeat>;
  name?: string;
  /**
   * gasLimit is the cycles that one fire may use. "auto" is what a dry run of the messages used, and a tenth more, as the
   * command line has it; where they would fail today it is left out. What is left out is the chain's default.
   */
  gasLimit?: bigint | "auto";
  cellLimit?: bigint;
  /**
   * expiresAt is the last height at which it may fire, and expiresTime the last second since 1970; what comes first
   * ends it.
   */
  expiresAt?: bigint;
  expiresTime?: bigint;
  bid?: Partial<Bid>;
  /** retry says how a failed fire is tried again, and paid again. */
  retry?: Retry | RetryTerms;
  /**
   * onUnfunded is what happens when the payer can't cover a fire: it is destroyed (the default), suspended, or skips
   * this fire.
   */
  onUnfunded?: OnUnfunded | "destroy" | "suspend" | "skip";
  /**
   * onlyIf is what must hold when it fires, such as "bank:balance:ADDRESS:DENOM < 100", 2 at most: else the messages
   * are not run, and the fire costs little and counts for nothing.
   */
  onlyIf?: (string | WatchKey)[];
  /**
   * maxCharge is the most that one fire may cost, in the fee denom: while it would cost more it waits. "default" is ten
   * times what it may cost today, which the command line states unless told otherwise; "none" is no bound, and so is
   * what is left out.
   */
  maxCharge?: string | "default" | "none";
  feePayer?: string;
}

/** Change is what an update replaces, each field of the job by itself, and of repeat each one; what is left out stays. */
export interface Change extends Partial<Job> {
  /** reset are fields that take their defaults, by the chain's names: "retry", "repeat.renew". */
  reset?: string[];
  /** ifSeq is the seq that the timer must have, as its status says it: nobody has changed it since. */
  ifSeq?: bigint;
}

/**
 * Happening is an event of a timer: its type, such as "TimerFired", and its attributes as the chain's JSON states them.
 */
export interface Happening {
  type: string;
  height: number;
  id: string;
  actor: string;
  attributes: Record<string, any>;
}

/** Sending says how long to wait for a transaction, and who gets its hash. */
export interface Sending extends Waiting {
  /** onSent is called with the hash before the transaction leaves: keep it, whatever happens then. */
  onSent?: (sent: Sent) => void;
  /**
   * confirm is called with what is to be signed, and its fee, before the signer is asked. If it throws, nothing is
   * signed, and the call throws the same.
   */
  confirm?: (planned: Planned) => Promise<void> | void;
}

/** Planned is a transaction that is not signed yet. */
export interface Planned {
  readonly messages: readonly EncodeObject[];
  readonly fee: StdFee;
}

/** TimersClient reads the timers of a chain, and changes those of the signer's accounts if it has a signer. */
export class TimersClient {
  readonly query: QueryClientImpl;

  private constructor(
    readonly endpoint: string,
    readonly comet: Comet38Client,
    private readonly signing?: SigningStargateClient,
  ) {
    this.query = new QueryClientImpl(createProtobufRpcClient(QueryClient.withExtensions(comet)));
  }

  /**
   * connect reads from a node's RPC endpoint. The signing client, made with timersRegistry and timersAminoTypes, is
   * needed to change anything.
   */
  static async connect(endpoint: string, signing?: SigningStargateClient): Promise<TimersClient> {
    return new TimersClient(endpoint, await Comet38Client.connect(endpoint), signing);
  }

  disconnect(): void {
    this.comet.disconnect();
  }

  /** blockEvents are the events of a block's transactions that succeeded, and of its end: what eventOf reads. */
  blockEvents(height: number): Promise<BlockEvent[]> {
    return blockEvents(this.endpoint, height);
  }

  /**
   * schedule makes a timer of the sender, and returns its id. It throws with the chain's reason if that refuses, and
   * UnknownOutcome if it was sent and the deadline came before an answer.
   */
  async schedule(sender: string, job: Job, fee: StdFee | "auto" = "auto", options: Sending = {}): Promise<string> {
    this.signer();
    const stated = await this.specOf(sender, job, async () => TimerInfo.create());
    const value = MsgScheduleTimer.fromPartial({ sender, spec: TimerSpec.fromPartial(stated) });
    const { height, events } = await this.send(sender, [{ typeUrl: "/timers.v1.MsgScheduleTimer", value }], fee,
      options);
    return happenings(events, height).find((happening) => happening.type === "TimerScheduled")!.id;
  }

  /**
   * update changes what was stated of a timer of the sender, and nothing else. The id stays. The trigger of a timer that
   * repeats is replaced by one of the same kind. The timer is named by its whole id, or by its name.
   */
  async update(sender: string, timer: string, change: Change, fee: StdFee | "auto" = "auto",
    options: Sending = {}): Promise<void> {
    this.signer();
    // A name is no prefix of an id, and so no whole one.
    const which = /^[0-9a-f]{64}$/i.test(timer) ? { id: timer, name: "" } : { id: "", name: timer };
    const { reset = [], ifSeq = 0n, ...job } = change;
    const stated = await this.specOf(sender, job, async () =>
      (await this.query.Timer({ actor: sender, ...which, scheduler: "", verdict: false })).timer ?? TimerInfo.create());
    const fields = Object.keys(stated).flatMap((key) =>
      key === "repeat" ? Object.keys(stated.repeat!).map((within) => `repeat.${snake(within)}`) : [snake(key)]);
    const spec = TimerSpec.fromPartial({ ...stated, trigger: stated.trigger ?? {}, call: stated.call ?? {} });
    const value = MsgUpdateTimer.fromPartial({ sender, ...which, spec, fields: [...new Set([...fields, ...reset])], ifSeq });
    await this.send(sender, [{ typeUrl: "/timers.v1.MsgUpdateTimer", value }], fee, options);
  }

  /** specOf is what is stated of a timer, as the chain has it. Has is the timer that there is, which is asked for if needed. */
  private async specOf(actor: string, job: Partial<Job>, has: () => Promise<TimerInfo>): Promise<Partial<TimerSpec>> {
    const { messages, trigger, repeat, bid, retry, onUnfunded, onlyIf, maxCharge, gasLimit, ...others } = job;
    const registry = this.signer().registry;
    const rest = { ...others, gasLimit: gasLimit === "auto" ? await this.gasLimit(actor, messages) : gasLimit };
    const spec: Partial<TimerSpec> = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
    let timing: Partial<Life> = trigger instanceof When || trigger === undefined ? {} : { trigger: Trigger.fromPartial(trigger) };
    if (trigger instanceof When) {
      const ends = rest.expiresTime ?? (await has()).status?.expiresTime;
      timing = await this.timing(trigger, rest, ends);
    }
    Object.assign(spec, timing);
    if (timing.repeat || repeat) spec.repeat = { ...timing.repeat, ...repeat } as Repeat;
    if (spec.repeat === undefined) delete spec.repeat;
    if (messages) {
      spec.call = { handler: "", payload: new Uint8Array(),
        messages: messages.map((message) => Any.fromPartial(registry.encodeAsAny(message))) };
    }
    if (bid) spec.bid = Bid.fromPartial(bid);
    if (retry) spec.retry = retryOf(retry, isByTime(spec.trigger ?? (await has()).spec?.trigger));
    if (onUnfunded !== undefined) spec.onUnfunded = onUnfundedOf(onUnfunded);
    if (onlyIf) spec.onlyIf = await this.guards(onlyIf);
    const most = await this.maxCharge(actor, maxCharge, async () => {
      const { spec: had, status } = await has();
      return { gasLimit: rest.gasLimit || status?.gasLimit || 0n, cellLimit: rest.cellLimit || status?.cellLimit || 0n,
        bid: bid ?? had?.bid };
    });
    if (most !== undefined) spec.maxCharge = most;
    return spec;
  }

  /** gasLimit is what "auto" comes to for messages of an actor; undefined where they would fail today. */
  private async gasLimit(actor: string, messages: readonly EncodeObject[] = []): Promise<bigint | undefined> {
    if (messages.length === 0) throw new Error('gasLimit "auto" is for messages, which a node can try: state a number of cycles');
    const { gas, failure } = await this.dryRun(actor, messages);
    if (failure !== undefined) return undefined;
    const registry = this.signer().registry;
    const payload = AccountPayload.fromPartial({ messages: messages.map((message) => registry.encodeAsAny(message)) });
    const [{ config }, { maxCyclesPerFire }] = await Promise.all([this.query.Params({ fields: [] }), this.query.Lane({})]);
    return gasLimitFor(gas, AccountPayload.encode(payload).finish().length, config!.minGasLimit, maxCyclesPerFire);
  }

  /** maxCharge is what was stated of it, with "default" at today's price of a timer. */
  private async maxCharge(
    actor: string,
    stated: string | undefined,
    of: () => Promise<{ gasLimit: bigint; cellLimit: bigint; bid?: Partial<Bid> }>,
  ): Promise<string | undefined> {
    if (stated === "none") return "0";
    if (stated !== "default") return stated;
    const { bid, gasLimit, cellLimit } = await of();
    const asked = { gasLimit, cellLimit, bid: bid && Bid.fromPartial(bid), maxCharge: "" };
    return defaultMaxCharge(await this.costOf(actor, asked), bid);
  }

  private guards(stated: (string | WatchKey)[] | undefined): Promise<WatchKey[]> {
    return guards(stated, (text) => this.watchKey(text));
  }

  /** occurrences asks when a timer is due next: times if byTime, heights else, at most limit (5 if 0, 100 at most). */
  occurrences(actor: string, id: string, limit = 0): Promise<QueryOccurrencesResponse> {
    return this.query.Occurrences(QueryOccurrencesRequest.fromPartial({ actor, id, limit }));
  }

  /**
   * occurrencesOf asks when a timer would be due if it were scheduled now, such as the spec of a MsgScheduleTimer. It
   * throws if the chain refuses the trigger.
   */
  occurrencesOf(
    spec: Pick<TimerSpec, "trigger"> & Partial<TimerSpec>,
    limit = 0,
  ): Promise<QueryOccurrencesResponse> {
    return this.query.Occurrences(
      QueryOccurrencesRequest.fromPartial({ spec: { ...spec, call: undefined }, limit }));
  }

  /** cancel removes timers of the sender, in one transaction. */
  async cancel(sender: string, ids: string[], fee: StdFee | "auto" = "auto", options: Sending = {}): Promise<void> {
    await this.send(sender, ids.map((id) => ({ typeUrl: "/timers.v1.MsgCancelTimer", value: { sender, id } })), fee,
      options);
  }

  /** pause puts timers of the sender on hold until they are resumed. Their life goes on. */
  async pause(sender: string, ids: string | string[], fee: StdFee | "auto" = "auto",
    options: Sending = {}): Promise<void> {
    await this.each("MsgPauseTimer", ids, { sender }, fee, options);
  }

  /**
   * resume puts timers of the sender back that were paused, suspended or on hold for lack of funds. Of those that are
   * overdue the latest occurrence is due in the next block ("now", the default), or they wait for the next one.
   */
  async resume(
    sender: string,
    ids: string | string[],
    { at, ...options }: Sending & { at?: "now" | "next" } = {},
    fee: StdFee | "auto" = "auto",
  ): Promise<void> {
    const known: Record<string, ResumeAt> = { now: ResumeAt.NOW, next: ResumeAt.NEXT };
    if (at !== undefined && !Object.hasOwn(known, at))
      throw new Error(`at ${JSON.stringify(at)} is unknown: want now or next`);
    await this.each("MsgResumeTimer", ids, { sender, at: at === undefined ? ResumeAt.UNSPECIFIED : known[at] }, fee,
      options);
  }

  /**
   * skip lets the next occurrences of timers of the sender pass without a fire, 1 unless stated and 1,000 at most. From is the
   * next one, in seconds since 1970 or as a height: if that is another by then, nothing passes.
   */
  async skip(
    sender: string,
    ids: string | string[],
    count: number = 1,
    fee: StdFee | "auto" = "auto",
    { from = 0n, ...options }: Sending & { from?: bigint | number } = {},
  ): Promise<void> {
    if (!Number.isInteger(count) || count < 1 || count > 1_000)
      throw new Error(`count ${count} is out of bounds: want 1 to 1000`);
    await this.each("MsgSkipTimer", ids, { sender, count, from: BigInt(from) }, fee, options);
  }

  /** run makes the next occurrence of timers of the sender due in the next block, paid and counted like any other. */
  async run(sender: string, ids: string | string[], fee: StdFee | "auto" = "auto",
    options: Sending = {}): Promise<void> {
    await this.each("MsgRunTimer", ids, { sender }, fee, options);
  }

  /** extend sets until when timers of the sender may fire: a height, a second since 1970, or both. */
  async extend(
    sender: string,
    ids: string | string[],
    ends: { expiresAt?: bigint; expiresTime?: bigint },
    fee: StdFee | "auto" = "auto",
    options: Sending = {},
  ): Promise<void> {
    await this.each("MsgExtendTimer", ids, { sender, ...ends }, fee, options);
  }

  /** each sends a message for each of some timers, in one transaction. */
  private async each(name: string, ids: string | string[], value: object, fee: StdFee | "auto",
    options: Sending): Promise<void> {
    const typeUrl = `/timers.v1.${name}`;
    const type = messageTypes.find(([url]) => url === typeUrl)![1] as { fromPartial(value: object): unknown };
    const { sender } = value as { sender: string };
    await this.send(sender, [ids].flat().map((id) => ({ typeUrl, value: type.fromPartial({ ...value, id }) })), fee,
      options);
  }

  /** unwatch cancels the timers of the sender that watch a key, and returns their ids. */
  async unwatch(sender: string, key: WatchKey, fee: StdFee | "auto" = "auto",
    options: Sending = {}): Promise<string[]> {
    const same = (a: WatchKey): boolean =>
      a.store === key.store && a.prefix.length === key.prefix.length &&
      a.prefix.every((byte, i) => byte === key.prefix[i]);
    const ids = (await this.list(sender)).filter((t) => t.spec?.trigger?.watch?.keys.some(same)).map((t) => t.id);
    if (ids.length > 0) await this.cancel(sender, ids, fee, options);
    return ids;
  }

  /** list reads the timers of an actor, all pages, in the order in which they were scheduled. */
  async list(actor: string): Promise<TimerInfo[]> {
    const all: TimerInfo[] = [];
    for (let key = new Uint8Array();;) {
      const page = await this.query.TimersByActor({
        actor,
        verdict: false,
        pagination: { key, offset: 0n, limit: 100n, countTotal: false, reverse: false },
      });
      all.push(...page.timers);
      key = new Uint8Array(page.pagination?.nextKey ?? []);
      if (key.length === 0) return all;
    }
  }

  /**
   * proveDelivery returns the file of a proof that a timer was delivered in the block of a height, as long as the chain
   * keeps its receipt. Keep it: verifyProof needs it and a trusted header, and no node. Of the latest block it waits
   * for the next one, whose header the proof is for.
   */
  proveDelivery(id: string, height: bigint | number, options: Proving = {}): Promise<string> {
    return prove(this.comet, "delivery", id, height, options);
  }

  /** proveAbsence returns the file of a proof that a timer was not delivered in the block of a height. */
  proveAbsence(id: string, height: bigint | number, options: Proving = {}): Promise<string> {
    return prove(this.comet, "absence", id, height, options);
  }

  /** estimate asks what a fire would cost, and how long it would wait. */
  estimate(request: Partial<QueryEstimateRequest> = {}): Promise<QueryEstimateResponse> {
    return this.query.Estimate(QueryEstimateRequest.fromPartial(request));
  }

  /** costOf asks what a fire of a timer with this spec would cost: preCharge is the most today. */
  costOf(actor: string, timer: Pick<TimerSpec, "gasLimit" | "cellLimit" | "bid" | "maxCharge">):
    Promise<QueryEstimateResponse> {
    const { gasLimit, cellLimit, bid, maxCharge } = timer;
    return this.estimate({
      actor, gasLimit, cellLimit, maxCharge, tier: bid?.tier, bid: bid?.price,
      maxFee: bid?.static?.maxFeePerCycle, maxPriority: bid?.static?.maxPriorityFeePerCycle,
    });
  }

  /** spendable is what an account can spend of a denom. */
  async spendable(address: string, denom: string): Promise<bigint> {
    const bank = new BankQueryClientImpl(createProtobufRpcClient(QueryClient.withExtensions(this.comet)));
    return BigInt((await bank.SpendableBalanceByDenom({ address, denom })).balance?.amount ?? "0");
  }

  /**
   * dryRun tries messages as a transaction of the sender's at today's state, and leaves no trace. It returns the gas that
   * they used, and the chain's reason if they would fail.
   */
  async dryRun(sender: string, messages: readonly EncodeObject[]): Promise<{ gas: number; failure?: string }> {
    try {
      return { gas: await this.signer().simulate(sender, messages, "") };
    } catch (error) {
      const text = String((error as Error).message);
      if (text.startsWith("Query failed")) return { gas: 0, failure: reasonIn(text) };
      throw error;
    }
  }

  /** watchKey reads the friendly form of a key, such as "bank:balance:ADDRESS:DENOM". */
  async watchKey(text: string): Promise<WatchKey> {
    const { key } = await this.query.WatchKey(QueryWatchKeyRequest.fromPartial({ text }));
    return key!;
  }

  /**
   * blocks converts minutes to blocks, at least one, by the median time of the last blocks. Block times vary, so that a
   * timer of that many blocks fires about then.
   */
  async blocks(minutes: number): Promise<bigint> {
    return BigInt(Math.max(1, Math.round((minutes * 60_000) / (await this.pace()).blockMs)));
  }

  /** pace is the latest block, and the median time from one to the next of the last blocks. */
  async pace(): Promise<Pace> {
    const { syncInfo } = await this.comet.status();
    const last = syncInfo.latestBlockHeight;
    const { blockMetas } = await this.comet.blockchain(Math.max(1, last - 19), last);
    const times = blockMetas.map((meta) => meta.header.time.getTime()).sort((a, b) => a - b);
    const gaps = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
    if (gaps.length === 0) throw new Error("the chain has too few blocks to tell how long one takes");
    return { height: last, latest: new Date(syncInfo.latestBlockTime.getTime()),
      blockMs: Math.max(1, gaps[Math.floor(gaps.length / 2)]) };
  }

  /**
   * timing compiles what was stated of time, as the chain is now: with the changes of clocks for the life of the timer,
   * and no sooner than a transaction can get it scheduled.
   */
  private async timing(
    when: When,
    { expiresAt, expiresTime }: { expiresAt?: bigint; expiresTime?: bigint },
    ends: bigint | undefined,
  ): Promise<Partial<Life>> {
    const [{ latest, blockMs }, { config }] = await Promise.all([this.pace(), this.query.Params({ fields: [] })]);
    const now = new Date(Math.max(Date.now(), latest.getTime()));
    const soonest = BigInt(Math.ceil((now.getTime() + leadBlocks * blockMs) / 1000));
    const made = when.compile({ now, ends: ends || undefined, longest: config?.maxTtlSeconds, soonest });
    if ((made.trigger.time || made.trigger.calendar) && config?.timeTriggers === false) {
      throw new Error(`${when}: this chain takes no triggers by time (time_triggers is off): want a number of blocks`);
    }
    if ((made.expiresAt && expiresAt) || (made.expiresTime && expiresTime)) {
      throw new Error(`${when} states until when the timer may fire, and so does the job: want one of them`);
    }
    // What is not stated is no part of it; who says what becomes of failures says after how many.
    const repeat = made.repeat && Object.fromEntries(Object.entries(made.repeat)
      .filter(([name, value]) => value || (name === "maxFailures" && made.repeat!.onFailure)));
    return { trigger: made.trigger, ...(repeat && { repeat: repeat as Partial<Repeat> }),
      ...(made.expiresAt && { expiresAt: made.expiresAt }), ...(made.expiresTime && { expiresTime: made.expiresTime }) };
  }

  /**
   * follow yields what becomes of an actor's timers, block by block from a height on (the next one unless stated),
   * until the signal aborts. No event is left out or given twice: blocks are read one after the other, also those made
   * while the program or the node was away, as far back as the node keeps them. It waits for a node that is away, for
   * ever unless timeoutMs is stated: then it throws NodeAway. A subscription at a node matches across the events of a
   * block, so that what it reports has to be filtered again; here each event is filtered by its own actor.
   */
  async *follow(actor: string, options: Following = {}): AsyncGenerator<Happening> {
    for await (const { height, events } of blocks(this.endpoint, options)) {
      for (const happening of happenings(events, height)) {
        if (happening.actor === actor) yield happening;
      }
    }
  }

  /**
   * broadcast signs messages and sends them, and returns the hash by which to find the transaction. It throws with the
   * chain's reason if that refuses. Where no answer comes it sends the same bytes again, which the chain takes once; at
   * the deadline it returns, and outcome finds out. What throws before onSent was called sent nothing.
   */
  broadcast(sender: string, messages: EncodeObject[], fee: StdFee | "auto" = "auto",
    options: Sending = {}): Promise<Sent> {
    return this.broadcastWithin(sender, messages, fee, options).then(({ sent }) => sent);
  }

  /**
   * outcome tells what became of a transaction: it waits for it, and for a node that is away, until the deadline. A
   * node without an index is asked for the blocks since the transaction was sent.
   */
  outcome(sent: Sent, options: Waiting = {}): Promise<Outcome> {
    return outcomeOf(this.comet, sent, new Patience(options));
  }

  private signer(): SigningStargateClient {
    if (!this.signing) throw new Error("this client only reads: give connect a SigningStargateClient");
    return this.signing;
  }

  private async send(
    sender: string,
    messages: EncodeObject[],
    fee: StdFee | "auto",
    options: Sending,
  ): Promise<Extract<Outcome, { end: "included" }>> {
    const { sent, patience } = await this.broadcastWithin(sender, messages, fee, options);
    const outcome = await outcomeOf(this.comet, sent, patience);
    if (outcome.end === "unknown") throw new UnknownOutcome(outcome);
    if (outcome.end === "failed") throw refused(outcome.reason);
    return outcome;
  }

  private async broadcastWithin(
    sender: string,
    messages: EncodeObject[],
    fee: StdFee | "auto",
    options: Sending,
  ): Promise<{ sent: Sent; patience: Patience }> {
    const signing = this.signer();
    const paid = fee === "auto" ? await this.feeFor(sender, messages) : fee;
    await options.confirm?.({ messages, fee: paid });
    const tx = TxRaw.encode(await signing.sign(sender, messages, paid, "")).finish();
    const sent = { hash: hashOf(tx), since: (await this.comet.status()).syncInfo.latestBlockHeight };
    options.onSent?.(sent);
    const patience = new Patience(options);
    for (let unanswered = 0;;) {
      try {
        const { code, log } = await patience.ask(this.comet.broadcastTxSync({ tx }));
        // Of one that came through without an answer, the node says later that its number is used.
        if (code !== 0 && unanswered === 0) throw new Refusal(log || `code ${code}`);
        return { sent, patience };
      } catch (error) {
        if (error instanceof Refusal) throw refused(error.message);
        const answer = answerOf(error);
        if (patience.over || answer?.includes("already exists")) return { sent, patience };
        if (answer !== undefined && unanswered === 0 && !answer.includes("mempool is full")) throw refused(answer);
        await patience.pause();
        if (answer === undefined) unanswered++;
      }
    }
  }

  /**
   * feeFor is the fee of what CosmJS simulates and a fifth more, and of paying the fee, which the simulation leaves
   * out.
   */
  private async feeFor(sender: string, messages: EncodeObject[]): Promise<StdFee> {
    const paying = 25_000;
    const signing = this.signer();
    const price = signing["gasPrice"];
    if (!price) throw new Error('give the SigningStargateClient a gasPrice, or state the fee: "auto" has no price');
    try {
      return calculateFee(Math.round(1.2 * (await signing.simulate(sender, messages, "")) + paying), price);
    } catch (error) {
      const text = String((error as Error).message);
      throw text.startsWith("Query failed") ? refused(text) : error;
    }
  }
}

/** Life is what a statement of time makes of a spec. */
interface Life extends Pick<TimerSpec, "trigger" | "expiresAt" | "expiresTime"> {
  repeat: Partial<Repeat>;
}

/** snake is the chain's name of a field: gas_limit. */
const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => "_" + letter.toLowerCase());

/** Refusal is the reason for which a node refused a transaction. */
class Refusal extends Error {}

function refused(log: string): Error {
  return new Error(`the chain refused the transaction: ${reasonIn(log)}`);
}

/** happenings are the events of timers among those of a block. */
export function happenings(events: readonly BlockEvent[], height: number): Happening[] {
  return events.filter((event) => event.type.startsWith("timers.v1.Timer")).flatMap((event) => {
    const attributes: Record<string, any> = {};
    for (const { key, value } of event.attributes) {
      try {
        attributes[key] = JSON.parse(value);
      } catch {
        attributes[key] = value; // added by the node, and no JSON
      }
    }
    if (typeof attributes.id !== "string" || typeof attributes.actor !== "string") return [];
    return [{ type: event.type.slice("timers.v1.".length), height, id: attributes.id, actor: attributes.actor,
      attributes }];
  });
}
