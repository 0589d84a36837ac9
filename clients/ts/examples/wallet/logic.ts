// What the page does without a document: it reads what was entered, and says what a transaction will do.
import { fromBech32 } from "@cosmjs/encoding";
import type { EncodeObject, OfflineSigner } from "@cosmjs/proto-signing";
import {
  type Job, type Pace, type Planned, HoldReason, type TimerInfo, TimerPhase, type TimersClient, type When, at, clean,
  count, doesWords, endsWords, every, heightWords, messagesWords, outcomeWords, repeatsWords, statusWords, timeWords,
  type TimerSpec, timersRegistry, tx, waitsWords,
} from "@cosmos-timers/timers";

/** Wallet is what the page uses of Keplr's interface, which Leap and other wallets have too. */
export interface Wallet {
  experimentalSuggestChain(chain: object): Promise<void>;
  enable(chainId: string): Promise<void>;
  getKey(chainId: string): Promise<{ isNanoLedger?: boolean; bech32Address: string }>;
  getOfflineSigner(chainId: string): OfflineSigner;
  getOfflineSignerOnlyAmino(chainId: string): OfflineSigner;
}

/** walletsIn are the wallets of a browser, by name. */
export function walletsIn(window: object): Record<string, Wallet> {
  const { keplr, leap } = window as { keplr?: Wallet; leap?: Wallet };
  return { ...(keplr && { Keplr: keplr }), ...(leap && { Leap: leap }) };
}

/** signerOf enables a chain in a wallet, and returns its signer: one of amino JSON for a Ledger, which has no other. */
export async function signerOf(wallet: Wallet, chainId: string): Promise<OfflineSigner> {
  await wallet.enable(chainId);
  const { isNanoLedger } = await wallet.getKey(chainId);
  return isNanoLedger ? wallet.getOfflineSignerOnlyAmino(chainId) : wallet.getOfflineSigner(chainId);
}

/** Node is where a page reads a chain, and sends to it. */
export interface Node {
  rpc: string;
  rest: string;
}

/**
 * nodeOf is the node of a page: its own, or one at the origin that serves the page, if the page's address names that:
 * ?rpc=/rpc&rest=/rest. Another is refused: who made the link could show a chain of theirs as if it were the page's.
 */
export function nodeOf(page: string, own: Node): Node {
  const { origin, searchParams } = new URL(page);
  const named = (name: keyof Node): string => {
    const text = searchParams.get(name);
    if (text === null) return own[name];
    const url = URL.canParse(text, page) ? new URL(text, page) : undefined;
    if (url?.origin === origin) return url.href;
    throw new Error(`The link to this page names another node, ${clean(text)}: open the page without it. A page takes a node at its own address alone, ${origin}`);
  };
  return { rpc: named("rpc"), rest: named("rest") };
}

/** description is what a wallet wants to know of a chain that it does not have yet. */
export function description(chainId: string, denom: string, rpc: string, rest: string): object {
  const currency = { coinDenom: "TMR", coinMinimalDenom: denom, coinDecimals: 6 };
  const prefixes = { AccAddr: "timer", AccPub: "timerpub", ValAddr: "timervaloper", ValPub: "timervaloperpub", ConsAddr: "timervalcons", ConsPub: "timervalconspub" };
  return {
    chainId, chainName: chainId, rpc, rest, bip44: { coinType: 118 },
    bech32Config: Object.fromEntries(Object.entries(prefixes).map(([name, prefix]) => ["bech32Prefix" + name, prefix])),
    currencies: [currency], stakeCurrency: currency,
    feeCurrencies: [{ ...currency, gasPriceStep: { low: 0.001, average: 0.001, high: 0.002 } }],
  };
}

/** kinds are the ways in which the page states when a transfer is due, and the fields that each needs. */
export const kinds = {
  once: ["date"], day: ["hour"], month: ["day", "hour"], blocks: ["blocks"],
} as const satisfies Record<string, readonly (keyof Entered)[]>;

/** Entered is what the form holds, as texts; what was left empty is not stated. */
export interface Entered {
  kind: string;
  recipient: string;
  amount: string;
  zone: string;
  /** date is a date and a time as an input of the browser writes it: 2030-01-31T09:00. */
  date: string;
  hour: string;
  /** day of the month: 1 to 31, or last. */
  day: string;
  blocks: string;
  count: string;
  /** until is a date and a time too. */
  until: string;
  onUnfunded: string;
  maxCharge: string;
  name: string;
}

const names: Partial<Record<keyof Entered, string>> = {
  date: "a date and a time", hour: "a time of day", day: "a day of the month", blocks: "a number of blocks",
};

/** whenOf is when what was entered is due. */
export function whenOf(entered: Entered): When {
  const { kind, date, hour, day, blocks } = entered;
  if (!Object.hasOwn(kinds, kind)) throw new Error(`${JSON.stringify(kind)} is no way to repeat: want ${Object.keys(kinds).join(", ")}`);
  for (const field of kinds[kind as keyof typeof kinds]) {
    if (entered[field].trim() === "") throw new Error(`When: want ${names[field]}`);
  }
  const moment = (text: string): string => text.trim().replace("T", " ");
  const until = moment(entered.until) || undefined;
  // A number of blocks has no zone, unless its end is a time.
  const zone = kind === "blocks" && until === undefined ? undefined : entered.zone.trim() || undefined;
  if (kind === "once") return at(moment(date), { zone, until });
  const options = { zone, until, count: entered.count.trim() || undefined };
  if (kind === "day") return every(`day@${hour.trim()}`, options);
  if (kind === "month") return every(`month@${day.trim()} ${hour.trim()}`, options);
  if (!/^[0-9]+$/.test(blocks.trim())) throw new Error(`${JSON.stringify(blocks)} is no number of blocks: want one such as 20`);
  return every(blocks.trim(), options);
}

/** jobOf is the transfer that was entered. */
export function jobOf(entered: Entered, owner: string, denom: string): Job {
  const [recipient, amount, maxCharge] = [entered.recipient.trim(), entered.amount.trim(), entered.maxCharge.trim()];
  checkAddress(recipient, fromBech32(owner, longest).prefix);
  if (!/^[1-9][0-9]*$/.test(amount)) throw new Error(`${JSON.stringify(amount)} is no amount: want a whole number of ${denom} above 0`);
  if (!/^([1-9][0-9]*)?$/.test(maxCharge)) {
    throw new Error(`${JSON.stringify(maxCharge)} is no bound of costs: want a whole number of ${denom} above 0, or nothing`);
  }
  const { onUnfunded } = entered;
  if (onUnfunded !== "skip" && onUnfunded !== "suspend" && onUnfunded !== "destroy") {
    throw new Error(`${JSON.stringify(onUnfunded)} is unknown: want skip, suspend or destroy`);
  }
  const value = { fromAddress: owner, toAddress: recipient, amount: [{ denom, amount }] };
  return {
    messages: [{ typeUrl: "/cosmos.bank.v1beta1.MsgSend", value }],
    trigger: whenOf(entered), name: entered.name, onUnfunded, maxCharge: maxCharge || "default", gasLimit: "auto",
  };
}

/** longest is how many characters an address may have: the default of CosmJS, none, is refused by what decodes it. */
const longest = 1_023;

function checkAddress(text: string, prefix: string): void {
  let found: string;
  try {
    found = fromBech32(text, longest).prefix;
  } catch (error) {
    throw new Error(`Recipient ${JSON.stringify(text)} is no address: ${(error as Error).message}`);
  }
  if (found !== prefix) throw new Error(`Recipient ${JSON.stringify(text)} is an address of another chain: want one that begins with ${prefix}1`);
}

/** nameOf is how the page calls a timer: by its name, and the first digits of its id. */
export function nameOf({ id, spec }: Pick<TimerInfo, "id"> & Partial<Pick<TimerInfo, "spec">>): string {
  const short = clean(id.slice(0, 8));
  return spec?.name ? `${clean(spec.name)} (${short})` : short;
}

const registry = timersRegistry();

/** recurs: a timer has further occurrences after the next one. */
const recurs = ({ spec }: TimerInfo): boolean => Boolean(spec?.trigger?.interval ?? spec?.trigger?.calendar);

/** Action is what the page does with a timer. */
export type Action = "skip" | "run" | "pause" | "resume" | "cancel";

/** allowed are the actions that make sense for a timer as it is; the chain decides. */
export function allowed(t: TimerInfo): Record<Action, boolean> {
  const { phase, holdReason } = t.status!;
  const live = phase !== TimerPhase.EXPIRED;
  const onHold = phase === TimerPhase.ON_HOLD;
  const known = t.spec?.trigger?.watch === undefined;
  const back = [HoldReason.PAUSED, HoldReason.SUSPENDED, HoldReason.UNFUNDED];
  return {
    skip: live && !onHold && recurs(t), run: live && !onHold && known, pause: live && !onHold,
    resume: onHold && back.includes(holdReason), cancel: live,
  };
}

/** Priced is what the cost of a fire depends on. */
type Priced = Pick<TimerSpec, "gasLimit" | "cellLimit" | "bid" | "maxCharge">;

/** pricedOf is that of a timer, with the limits that are in force for it. */
function pricedOf({ spec, status }: TimerInfo): Priced {
  return { bid: spec?.bid, maxCharge: spec?.maxCharge ?? "", gasLimit: status!.gasLimit, cellLimit: status!.cellLimit };
}

/** Row is a timer in words. */
export interface Row {
  name: string;
  does: string;
  when: string;
  next: string[];
  status: string;
  waits: string;
  last: string;
  cost: string;
  ends: string;
}

/** shown is how many occurrences the page lists. */
const shown = 3;

/** Viewer reads what the page shows of one account, and says it in one zone. */
export class Viewer {
  constructor(readonly timers: TimersClient, readonly owner: string, readonly zone: string) {}

  /** rows are all timers of the account, those that are due first at the top. */
  async rows(): Promise<{ timer: TimerInfo; row: Row; from: bigint }[]> {
    const [pace, all] = await Promise.all([this.timers.pace(), this.timers.list(this.owner)]);
    const costs = new Map<string, Promise<string>>(); // by what they depend on: timers that state the same cost the same
    const found = await Promise.all(all.map(async (timer) => {
      const { gasLimit, cellLimit, maxCharge, bid } = pricedOf(timer);
      const key = [gasLimit, cellLimit, maxCharge, JSON.stringify(bid)].join();
      if (!costs.has(key)) costs.set(key, this.cost(pricedOf(timer)));
      return this.row(timer, pace, await costs.get(key)!);
    }));
    return found.filter((one) => one !== undefined).sort((a, b) => a.due - b.due);
  }

  /** row is undefined for a timer that has left since it was listed. */
  private async row(listed: TimerInfo, pace: Pace, cost: string):
    Promise<{ timer: TimerInfo; row: Row; due: number; from: bigint } | undefined> {
    let timer = listed;
    let next: { words: string[]; due: number; last?: number; from?: bigint };
    try {
      if (BigInt(listed.spec?.call?.payload.length ?? 0) < listed.status!.payloadBytes) {
        timer = (await this.timers.query.Timer({ actor: this.owner, id: listed.id, name: "", scheduler: "", verdict: false })).timer ?? listed;
      }
      next = await this.next(timer, pace);
    } catch (error) {
      if (/not found|no live timer/.test((error as Error).message)) return undefined;
      throw error;
    }
    const { lastOutcome: last, left } = timer.status!;
    return {
      timer,
      due: next.due,
      from: next.from ?? 0n,
      row: {
        name: nameOf(timer),
        does: doesWords(timer, registry),
        when: this.repeats(timer.spec, next.last, this.zone, left),
        next: next.words,
        status: statusWords(timer),
        waits: waitsWords(timer, pace, this.zone),
        last: last ? `${heightWords(last.height, pace, this.zone)}: ${outcomeWords(last)}, ${clean(last.paid)} paid` : "none yet",
        cost,
        ends: endsWords(timer.status!, pace, this.zone) || "when it has fired",
      },
    };
  }

  /** repeats says how often a timer is due until a second since 1970, by the clocks of a zone, and how often it is left to be. */
  private repeats(spec: TimerSpec | undefined, until = 0, zone = this.zone, left?: bigint): string {
    return repeatsWords(spec, zone, until, left);
  }

  /** next says when a timer is due, and which occurrence a skip takes for the next. */
  private async next(t: TimerInfo, pace: Pace): Promise<{ words: string[]; due: number; last?: number; from?: bigint }> {
    const { phase, recurrence, since, due: dueAt } = t.status!;
    if (phase === TimerPhase.ON_HOLD) return { words: ["not while it is on hold"], due: Infinity };
    if (t.spec?.trigger?.watch) return { words: ["when what it watches changes"], due: Infinity };
    const answer = await this.timers.occurrences(this.owner, t.id, shown);
    const first = answer.occurrences[0];
    const due = first === undefined ? 0 : answer.byTime ? Number(first.due) * 1000
      : pace.latest.getTime() + (Number(first.due) - pace.height) * pace.blockMs;
    const from = t.spec?.trigger?.interval && !recurrence ? since || dueAt : first?.at;
    return { words: this.dues(answer, pace), due, last: lastOf(answer), from };
  }

  /** dues are occurrences in words, and an ellipsis if there are more. */
  private dues({ occurrences, byTime, more }: Awaited<ReturnType<TimersClient["occurrences"]>>, pace: Pace): string[] {
    const words = occurrences.map(({ due }) => (byTime ? timeWords(due, this.zone) : heightWords(due, pace, this.zone)));
    return more ? [...words, "…"] : words;
  }

  /** cost is the most that one fire of a timer costs, of which the limits are known. */
  private async cost(t: Priced): Promise<string> {
    const e = await this.timers.costOf(this.owner, t);
    const unit = clean(e.feeDenom);
    const today = `at most ${clean(e.preCharge)}${unit} at today's prices, for ${count(e.gasLimit, "cycle")} and ${count(e.cellLimit, "cell")}`;
    return t.maxCharge === "" ? today : `${today}; never more than ${clean(t.maxCharge)}${unit}`;
  }

  /**
   * review says what a transaction will do, before it is signed, and what speaks against it. It throws where the chain
   * refuses it. Zone is that of the hours that were entered.
   */
  async review({ messages, fee }: Planned, zone = this.zone): Promise<Review> {
    const review: Review = {
      does: [], next: [], objections: [], costs: [`transaction: ${fee.amount.map((coin) => coin.amount + coin.denom).join(", ")}, whatever becomes of it`],
    };
    const pace = await this.timers.pace();
    for (const message of messages) await this.add(review, message, pace, zone, fee.amount);
    return review;
  }

  /** addSchedule says what a timer will do, what it takes, how long the account's funds last, and what speaks against it. */
  private async addSchedule(review: Review, job: TimerSpec, pace: Pace, zone: string, fee: readonly Coin[]): Promise<void> {
    const { does, next, costs, objections } = review;
    const messages = job.call?.messages ?? [];
    const [answer, estimate, { failure }] = await Promise.all([
      this.timers.occurrencesOf(job, most), this.timers.costOf(this.owner, job),
      this.timers.dryRun(this.owner, messages.map((any) => ({ typeUrl: any.typeUrl, value: registry.decode(any) }))),
    ]);
    const ends = endsWords(job, pace, this.zone);
    does.push(`Schedule${job.name === "" ? "" : ` "${clean(job.name)}"`}: ${messagesWords(messages, registry)}, ` +
      this.repeats(job, lastOf(answer), zone));
    if (ends !== "") does.push(`It ends ${ends}`);
    const first = { ...answer, occurrences: answer.occurrences.slice(0, shown), more: answer.more || answer.occurrences.length > shown };
    next.push(...this.dues(first, pace));
    const chosen = job.gasLimit === 0n ? ", limits that the chain chooses where none are stated" : "";
    costs.push(`each fire: ${await this.cost(job)}${chosen}`);
    if (failure !== undefined) objections.push(`It would fail if it ran now: ${clean(failure)}`);

    const price = { denom: estimate.feeDenom, amount: estimate.preCharge };
    const takes = takesOf(messages, this.owner, price);
    const moved = movedBy(messages, this.owner);
    if (moved.size > 0) costs.push(`each fire moves ${coinsText(moved)} from this account, beside what it costs`);
    const has = new Map<string, bigint>();
    for (const denom of takes.keys()) {
      const paid = fee.filter((coin) => coin.denom === denom).reduce((sum, { amount }) => sum + BigInt(amount), 0n);
      const balance = await this.timers.spendable(this.owner, denom);
      costs.push(`this account has ${balance}${clean(denom)} to spend`);
      has.set(denom, balance - paid);
    }
    const dues = answer.occurrences.map(({ due }) =>
      answer.byTime ? Number(due) : Math.round((pace.latest.getTime() + (Number(due) - pace.height) * pace.blockMs) / 1000));
    const said = fundsOf(takes, has, dues, answer.more, Math.floor(pace.latest.getTime() / 1000), this.zone);
    costs.push(...said.costs);
    objections.push(...said.objections);
  }

  private async add(review: Review, { typeUrl, value }: EncodeObject, pace: Pace, zone: string, fee: readonly Coin[]): Promise<void> {
    if (typeUrl === "/timers.v1.MsgScheduleTimer") return this.addSchedule(review, (value as tx.MsgScheduleTimer).spec!, pace, zone, fee);
    const { does, next, costs } = review;
    const { id } = value as { id: string };
    const { timer } = await this.timers.query.Timer({ actor: this.owner, id, name: "", scheduler: "", verdict: false });
    if (!timer) throw new Error(`no timer ${id}`);
    const name = nameOf(timer);
    const what = doesWords(timer, registry);
    const upcoming = async (more: number): Promise<string[]> =>
      timer.spec?.trigger?.watch ? ["when what it watches changes"]
        : this.dues(await this.timers.occurrences(this.owner, id, more), pace);
    switch (typeUrl) {
      case "/timers.v1.MsgSkipTimer": {
        const passes: number = value.count;
        const words = await upcoming(Math.min(100, passes + shown));
        does.push(`Skip ${name}: it does not ${what} ${words.slice(0, Math.min(passes, words.length)).join(", ")}`);
        next.push(...(words.length > passes ? words.slice(passes) : ["never: it has no occurrence after that"]));
        return;
      }
      case "/timers.v1.MsgRunTimer":
        does.push(`Run ${name} now: ${what}`);
        next.push("in the next block", ...(await upcoming(shown)).slice(1));
        costs.push(`the fire: ${await this.cost(pricedOf(timer))}`);
        return;
      case "/timers.v1.MsgPauseTimer":
        does.push(`Pause ${name}: it does not ${what} until it is resumed. Its life goes on, and ends ${endsWords(timer.status!, pace, this.zone)}`);
        next.push("not until it is resumed");
        return;
      case "/timers.v1.MsgResumeTimer":
        does.push(`Resume ${name}: ${what}, ${this.repeats(timer.spec, 0, this.zone, timer.status!.left)}. If an occurrence has come due meanwhile, the latest one fires in the next block, and is charged`);
        next.push(...(await upcoming(shown)));
        costs.push(`each fire: ${await this.cost(pricedOf(timer))}`);
        return;
      case "/timers.v1.MsgCancelTimer":
        does.push(`Cancel ${name} for good: it does not ${what} any more`);
        next.push("never");
        return;
      default:
        throw new Error(`${clean(typeUrl)} is no action of this page`);
    }
  }
}

/** lastOf is the second of the last occurrence of an answer; 0 where those are heights, or there is none. */
const lastOf = ({ occurrences, byTime }: { occurrences: { due: bigint }[]; byTime: boolean }): number =>
  byTime ? Number(occurrences.at(-1)?.due ?? 0n) : 0;

/** most is how many occurrences a node tells at once. */
const most = 100;

const month = 30 * 86_400;

interface Coin {
  denom: string;
  amount: string;
}

/** movedBy is what transfers take from an account, by denom. */
function movedBy(messages: readonly { typeUrl: string; value: Uint8Array }[], owner: string): Map<string, bigint> {
  const moved = new Map<string, bigint>();
  for (const message of messages) {
    if (message.typeUrl !== "/cosmos.bank.v1beta1.MsgSend") continue;
    const { fromAddress, toAddress, amount } = registry.decode(message) as { fromAddress: string; toAddress: string; amount: Coin[] };
    if (fromAddress !== owner || toAddress === owner) continue;
    for (const coin of amount) moved.set(coin.denom, (moved.get(coin.denom) ?? 0n) + BigInt(coin.amount));
  }
  return moved;
}

/** takesOf is all that a fire takes from an account: its price, and what transfers move. */
function takesOf(messages: readonly { typeUrl: string; value: Uint8Array }[], owner: string, price: Coin): Map<string, bigint> {
  const takes = movedBy(messages, owner);
  return takes.set(price.denom, (takes.get(price.denom) ?? 0n) + BigInt(price.amount));
}

const coinsText = (coins: ReadonlyMap<string, bigint>): string => [...coins].map(([denom, amount]) => `${amount}${clean(denom)}`).join(", ");

/**
 * fundsOf says what the next fires take, by denom, and how many of them the funds of an account cover: it objects where
 * that is not all that is known. Dues are seconds since 1970, of which there may be more.
 */
export function fundsOf(
  takes: ReadonlyMap<string, bigint>, has: ReadonlyMap<string, bigint>, dues: readonly number[], more: boolean, now: number, zone: string,
): Pick<Review, "costs" | "objections"> {
  const costs: string[] = [];
  const within = dues.filter((due) => due <= now + month).length;
  const all = within === dues.length;
  if (dues.length > 1 && within > 0) {
    const sums = new Map([...takes].map(([denom, amount]) => [denom, amount * BigInt(within)]));
    costs.push(`30 days take ${all && more ? "more than" : "at most"} ${coinsText(sums)} for ${count(within, "fire")}, costs and transfers together`);
  }
  let [covered, short] = [dues.length, ""];
  for (const [denom, amount] of takes) {
    const left = has.get(denom) ?? 0n;
    const fires = amount === 0n ? dues.length : left <= 0n ? 0 : Number(left / amount);
    if (fires < covered) [covered, short] = [fires, denom];
  }
  if (covered === dues.length) {
    if (dues.length > 0) costs.push(`this account's funds last for ${more ? "more than" : dues.length === 1 ? "its" : "all"} ${count(dues.length, "fire")} at today's prices`);
    return { costs, objections: [] };
  }
  const needs = `each takes ${takes.get(short)}${clean(short)}, and ${has.get(short) ?? 0n}${clean(short)} are left after this transaction`;
  const next = `the next, at ${timeWords(dues[covered], zone)}, is not covered`;
  const lasts = covered === 0 ? `no fire: ${next}` : `${count(covered, "fire")} at today's prices, until ${timeWords(dues[covered - 1], zone)}: ${next}`;
  return { costs, objections: [`This account's funds last for ${lasts}; ${needs}`] };
}

/** Review is what a transaction will do, what it costs at most, when the timer fires next, and what speaks against it. */
export interface Review {
  does: string[];
  costs: string[];
  next: string[];
  objections: string[];
}
