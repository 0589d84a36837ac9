// When a timer is due, as people say it: every("month@1 09:00", { zone: "Europe/Berlin" }). The words, what they mean
// and what is refused are those of the chain's command line, held to it by vectors
// (x/timers/schedule/testdata/when.json).
import {
  type CalendarTrigger,
  IntervalFrom,
  Missed,
  OnFailure,
  OnUnfunded,
  Repeat,
  Retry,
  Trigger,
} from "./gen/timers/v1/core.js";
import { isByTheClock, meantBy, parseRule, want, wordsOf } from "./cron.js";
import { type Calendar, maxTime, nextOccurrence } from "./schedule.js";
import { brief, isDigits, later, momentText, parseCount, parseDuration, parseMoment, quote, seconds, stamp, wantMoment } from "./span.js";
import { type Zone, compile, cover, machineZone, zoneOf } from "./zone.js";

const perSecond = 1_000_000_000n;
const maxJitter = 86_400n;

/** Ending says until when a timer may fire, and in which zone times are meant. */
export interface Ending {
  /** Zone of dates, times of day and rules, such as Europe/Berlin (default: that of the machine). */
  zone?: string;
  /** for is the life as a time from now: 30d, 6mo or 1y. */
  for?: string;
  /** until is the end of the life: a date and a time, or the last height. */
  until?: string | number | bigint;
  /** now is what the clock shows (default: the machine's, and when it is scheduled the node's where that is later). */
  now?: Date;
}

/** Repeating is what is stated of a timer that repeats. */
export interface Repeating extends Ending {
  /**
   * first is when it is due first (default: that far from now): a date and a time, or for a number of blocks a height.
   */
  first?: string | number | bigint;
  /** after is the same as a time from now. */
  after?: string;
  /** count is how often it fires (default: until its life ends). */
  count?: number | bigint | string;
  /** from is what a number of blocks counts from: the last fire (the default), or the first due height. */
  from?: "fire" | "schedule";
  /** missed says which of several fires that have come due meanwhile may be made: the latest (the default), or each. */
  missed?: "latest" | "each";
  /** window is how late a fire may be: a time such as 10m, or for a number of blocks in blocks. */
  window?: string | number | bigint;
  /** jitter is by how much each fire may be due later, by chance. */
  jitter?: string | number | bigint;
  /** onFailure is what a failed fire means for the rest: go on (roll, the default), stop, or suspend. */
  onFailure?: "roll" | "stop" | "suspend";
  /** maxFailures is after how many failed fires in a row suspend suspends (default 1). */
  maxFailures?: number | bigint | string;
}

/** Life is what a statement is compiled for. */
export interface Life {
  now?: Date;
  /** ends is the last second at which the timer may fire, where the statement has no end itself. */
  ends?: bigint;
  /** longest is the longest life by the chain's parameters, in seconds (default: 396 days). */
  longest?: bigint;
  /** soonest is the first second that may do: a time that is sooner is that one, since times are lower bounds. */
  soonest?: bigint;
}

/** Timing is what a statement comes to. */
export interface Timing {
  trigger: Trigger;
  /** repeat is what was stated of the occurrences of a timer that repeats; undefined if nothing was. */
  repeat?: Repeat;
  /** expiresAt and expiresTime are the end that was stated: a height, or seconds since 1970; 0n if none was. */
  expiresAt: bigint;
  expiresTime: bigint;
  /** zone is the one in which it is meant. */
  zone: string;
  /**
   * knownUntil is when the zone's clocks change next after what the trigger knows of them: schedule it again before.
   */
  knownUntil?: Date;
}

type Stated = "every" | "at" | "after";

/** Due is the option that says when a timer is due first, and its text. */
interface Due {
  name: "at" | "after" | "first";
  text: string;
}

/** When is a statement of when a timer is due. It is made by every, at and after, which refuse what can't be meant. */
export class When {
  /** @internal */
  constructor(private readonly kind: Stated, private readonly text: string, private readonly options: Repeating) {
    checkOptions(options);
    this.compile();
  }

  /** compile makes a trigger, with the changes of the zone's clocks for the life of the timer. */
  compile(life: Life = {}): Timing {
    return new Compiler(this.kind, this.text, this.options, life).timing();
  }

  toString(): string {
    return `${this.kind} ${this.text}`;
  }
}

/** known are the options that there are; the compiler holds the list to their type. */
const known: Record<keyof Repeating, true> = {
  zone: true, for: true, until: true, now: true, first: true, after: true, count: true, from: true, missed: true, window: true, jitter: true, onFailure: true, maxFailures: true,
};

/** checkOptions refuses an option that there is not: what is misspelt would have no effect. */
function checkOptions(options: object): void {
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(known, name)) throw new Error(`${brief(name)} is no option: want ${Object.keys(known).join(", ")}`);
  }
}

/**
 * every repeats a timer: by the clock, as "month@1 09:00", "month@last 18:00", "weekday@09:00", "mon,thu@09:00",
 * "day@09:00", "hour@:30", or a cron expression such as "0 9 * * 1-5"; by a time from one fire to the next, such as
 * "1h"; or by a number of blocks.
 */
export function every(text: string | number | bigint, options: Repeating = {}): When {
  return new When("every", String(text), options);
}

/** at makes a timer due once: at a date and a time, the next time of day, or a height. */
export function at(text: string | number | bigint | Date, options: Ending = {}): When {
  return new When("at", text instanceof Date ? text.toISOString() : String(text), options);
}

/** after makes a timer due once, a time from now: 10m, 1h30m, 2d or 6mo. */
export function after(text: string, options: Ending = {}): When {
  return new When("after", text, options);
}

const isMoment = (text: string): boolean => /[:-]/.test(text);

/** naming puts the name of an option before what is wrong with it. */
function naming<T>(name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`);
  }
}

/** choice is the value of a word of an enum; the default if none is stated. */
function choice(name: string, prefix: string, values: object, text: string | undefined, known: string): number {
  if (text === undefined) return 0;
  const value = (values as Record<string, unknown>)[prefix + text.toUpperCase()];
  if (typeof value !== "number" || value <= 0) throw new Error(`${name} ${brief(text)} is unknown: want ${known}`);
  return value;
}

const textOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value));

class Compiler {
  private readonly now: bigint;

  constructor(
    private readonly kind: Stated,
    private readonly text: string,
    private readonly options: Repeating,
    private readonly life: Life,
  ) {
    this.now = BigInt((options.now ?? life.now ?? new Date()).getTime()) * 1_000_000n;
  }

  timing(): Timing {
    const due = this.due();
    const until = textOf(this.options.until);
    const ending = until === undefined ? this.options.for : until;
    const endName = until === undefined ? "for" : "until";
    if (until !== undefined && this.options.for !== undefined) {
      throw new Error(
        `until ${quote(until)} and for ${
          quote(this.options.for)
        } both state until when the timer may fire: want one of them`,
      );
    }
    if (this.kind === "every") this.checkEvery();
    this.checkZone(due, until);
    const { expiresAt, expiresTime } = ending === undefined
      ? { expiresAt: 0n, expiresTime: 0n }
      : this.end(endName, ending);
    const timing: Timing = { trigger: Trigger.create(), expiresAt, expiresTime, zone: this.zone().name };
    if (this.kind !== "every") this.once(timing.trigger, due!);
    else if (isDigits(this.text)) this.interval(timing, due);
    else this.calendar(timing, due);
    this.checkEnd(timing, `${endName} ${ending}`);
    return timing;
  }

  private zoneRead?: Zone;

  private zone(): Zone {
    const { zone } = this.options;
    this.zoneRead ??= zone === undefined ? machineZone() : naming("zone", () => zoneOf(zone));
    return this.zoneRead;
  }

  /** due is the option that says when the timer is due first, and its text. It refuses what is no time. */
  private due(): Due | undefined {
    if (this.kind !== "every") return this.checkDue({ name: this.kind, text: this.text });
    const { after: distance } = this.options;
    const first = textOf(this.options.first);
    if (distance !== undefined && first !== undefined) {
      throw new Error(
        `after ${quote(distance)} and first ${quote(first)} both state when the timer is due: want one of them`,
      );
    }
    if (distance !== undefined) return this.checkDue({ name: "after", text: distance });
    return first === undefined ? undefined : this.checkDue({ name: "first", text: first });
  }

  private checkDue(due: Due): Due {
    if (due.name === "after") naming(due.name, () => this.later(due.text));
    else if (!isMoment(due.text)) naming(due.name, () => this.height(due.text));
    return due;
  }

  private later(text: string): bigint {
    if (isDigits(text))
      throw new Error(
        `${quote(text)} has no unit: want a duration such as 10m; a trigger { after } takes a number of blocks`,
      );
    return later(text, this.now, this.zone());
  }

  private height(text: string): bigint {
    try {
      return parseCount(text, "height");
    } catch (error) {
      if (isDigits(text)) throw error;
      throw new Error(`${brief(text)} is no date, no time of day and no height: ${wantMoment}, or a height such as 5000`);
    }
  }

  private checkEvery(): void {
    const { text } = this;
    if (isDigits(text)) {
      naming("every", () => parseCount(text, "number of blocks"));
      return;
    }
    let short = false;
    try {
      short = parseDuration(text) < 60n * perSecond;
    } catch {
      // Then it is a rule, or none.
    }
    if (short)
      throw new Error(`every ${brief(text)} is too short: want 1m at least, or a number of blocks, such as every 20`);
    naming("every", () => parseRule(text) ?? this.distance());
  }

  /** distance is that from one fire to the next, in seconds. */
  private distance(): bigint {
    const { text } = this;
    const words = wordsOf(text);
    const meant = meantBy(words);
    if (meant !== undefined) throw new Error(`${brief(text)} has no time: did you mean ${meant}?`);
    let length: bigint;
    try {
      length = parseDuration(words);
    } catch {
      throw new Error(`${brief(text)} is no recurring time: ${want}`);
    }
    if (length < 60n * perSecond || length % perSecond !== 0n) {
      throw new Error(`${brief(text)} is no distance that a timer can have: want whole seconds, and 1m at least`);
    }
    const anchor = this.now / perSecond + length / perSecond;
    if (anchor > BigInt(maxTime)) throw new Error(`${brief(text)} from now: anchor is ${anchor}: want 0 to ${maxTime}`);
    return length / perSecond;
  }

  /** checkZone refuses a zone where nothing is stated by a clock. */
  private checkZone(due: Due | undefined, until: string | undefined): void {
    if (this.options.zone === undefined) return;
    this.zone();
    const byClock = (due && due.name !== "after" && isMoment(due.text)) || (until !== undefined && isMoment(until)) ||
      (this.kind === "every" && isByTheClock(this.text));
    if (!byClock) {
      throw new Error(
        `zone ${
          brief(this.options.zone)
        } is stated, and no date and no time of day: heights, blocks and distances have no zone`,
      );
    }
  }

  private end(name: "for" | "until", text: string): { expiresAt: bigint; expiresTime: bigint } {
    return naming(name, () => {
      if (name === "until" && !isMoment(text)) return { expiresAt: this.height(text), expiresTime: 0n };
      if (name === "for" && isDigits(text)) {
        throw new Error(`${quote(text)} has no unit: want a time such as 30d, 6mo or 1y; until takes a height`);
      }
      const end = name === "until" ? parseMoment(text, this.now, this.zone()) : later(text, this.now, this.zone());
      return { expiresAt: 0n, expiresTime: seconds(end) };
    });
  }

  /** dueTime is when the timer is due, in seconds since 1970. */
  private dueTime({ name, text }: Due): bigint {
    const read = naming(name, () => (name === "after" ? this.later(text) : parseMoment(text, this.now, this.zone())));
    const { soonest = 0n } = this.life;
    return seconds(read) > soonest ? seconds(read) : soonest;
  }

  private once(trigger: Trigger, due: Due): void {
    if (due.name === "after" || isMoment(due.text)) trigger.time = { seconds: this.dueTime(due), nanos: 0 };
    else trigger.height = this.height(due.text);
  }

  /** failing is how many fires there are, and what becomes of those that fail. */
  private failing(): Pick<Repeat, "remaining" | "onFailure" | "maxFailures"> {
    const { count, onFailure, maxFailures } = this.options;
    const remaining = count === undefined ? 0n : naming("count", () => parseCount(String(count), "number of fires"));
    const failing = choice("onFailure", "ON_FAILURE_", OnFailureNames, onFailure, "roll, stop or suspend") as OnFailure;
    if (maxFailures === undefined) return { remaining, onFailure: failing, maxFailures: 0 };
    if (failing !== OnFailure.SUSPEND)
      throw new Error(`maxFailures ${quote(String(maxFailures))} is stated without onFailure suspend`);
    if (!isDigits(String(maxFailures)) || BigInt(maxFailures) < 1n || BigInt(maxFailures) >= 2n ** 32n) {
      throw new Error(`maxFailures ${brief(String(maxFailures))}: want a number of failures`);
    }
    return { remaining, onFailure: failing, maxFailures: Number(maxFailures) };
  }

  private interval(timing: Timing, due: Due | undefined): void {
    const { from } = this.options;
    const counted = choice("from", "INTERVAL_FROM_", IntervalFromNames, from, "fire or schedule") as IntervalFrom;
    let first = 0n;
    if (due) {
      if (due.name === "after" || isMoment(due.text)) {
        throw new Error(`${due.name} ${due.text} is a time, and every ${this.text} counts blocks: want a height`);
      }
      first = this.height(due.text);
    }
    if (counted !== IntervalFrom.SCHEDULE) {
      for (const name of ["missed", "window", "jitter"] as const) {
        if (this.options[name] !== undefined) {
          throw new Error(
            `${name} ${
              quote(String(this.options[name]))
            }: an interval that counts from its fires has none that could be late: ` +
              "want from schedule beside it",
          );
        }
      }
    }
    timing.trigger.interval = {
      every: parseCount(this.text, "number of blocks"),
      first,
      from: counted,
    };
    timing.repeat = this.repeat(counted === IntervalFrom.SCHEDULE ? this.terms(false) : {});
  }

  private calendar(timing: Timing, due: Due | undefined): void {
    const rule = naming("every", () => parseRule(this.text));
    const calendar: CalendarTrigger = {
      every: undefined,
      cron: undefined,
      offsetMinutes: 0,
      transitions: [],
      offsetFinal: false,
    };
    if (!rule) {
      const anchor = due === undefined ? 0n : this.anchor(due);
      calendar.every = { seconds: naming("every", () => this.distance()), anchor };
    } else {
      if (due) {
        throw new Error(
          `every states by the clock when the timer is due first, and so does ${due.name} ${
            quote(due.text)
          }: want one of them`,
        );
      }
      calendar.cron = { ...rule.cron, nth: 0 };
      const zone = rule.zone ?? this.zone();
      timing.zone = zone.name;
      const now = Number(this.now / perSecond);
      const { ends, longest } = this.life;
      const until = Number(timing.expiresTime || ends || BigInt(now) + (longest ?? BigInt(cover)));
      const { offsetMinutes, transitions, until: changes } = naming("every", () => compile(zone, now, until));
      calendar.offsetMinutes = offsetMinutes;
      calendar.transitions = transitions.map((t) => ({ from: BigInt(t.from), offsetMinutes: t.offsetMinutes }));
      if (changes !== undefined) timing.knownUntil = new Date(changes * 1000);
    }
    if (this.options.from !== undefined && this.options.from !== "schedule") {
      throw new Error(`from is for a number of blocks: every ${this.text} always counts from its schedule`);
    }
    timing.repeat = this.repeat(this.terms(true));
    timing.trigger.calendar = calendar;
  }

  private anchor(due: Due): bigint {
    if (due.name === "after" || isMoment(due.text)) return this.dueTime(due);
    throw new Error(
      `${due.name} ${due.text} counts blocks, and every ${this.text} time: want a date and a time, or after`,
    );
  }

  /** repeat is what is stated of occurrences, with terms of those that are known in advance; undefined if nothing is. */
  private repeat(terms: Partial<Repeat>): Repeat | undefined {
    const stated = Repeat.fromPartial({ ...this.failing(), ...terms });
    return Object.values(stated).some(Boolean) ? stated : undefined;
  }

  /** terms are what is stated of fires that are known in advance, in seconds or in blocks. */
  private terms(inTime: boolean): Pick<Repeat, "missed" | "window" | "jitter"> {
    const missed = choice("missed", "MISSED_", MissedNames, this.options.missed, "latest or each") as Missed;
    const window = this.length("window", inTime);
    const jitter = this.length("jitter", inTime);
    if (jitter > maxJitter) {
      throw new Error(
        `jitter ${this.options.jitter} is too long: want at most ${inTime ? "24h" : `${maxJitter} blocks`}`,
      );
    }
    return { missed, window, jitter };
  }

  /** length is a distance in whole seconds, or in blocks; 0 if it is not stated. */
  private length(name: "window" | "jitter", inTime: boolean): bigint {
    const text = textOf(this.options[name]);
    if (text === undefined) return 0n;
    if (!inTime) {
      if (!isDigits(text))
        throw new Error(`${name} ${brief(text)}: every ${this.text} counts blocks, want a number of blocks`);
      return naming(name, () => parseCount(text, "number of blocks"));
    }
    if (isDigits(text))
      throw new Error(`${name}: ${quote(text)} has no unit: every counts time here, want a duration such as 10m`);
    return seconds(naming(name, () => parseDuration(text)));
  }

  /** checkEnd refuses a life that ends before the timer is due. */
  private checkEnd({ trigger, expiresAt, expiresTime }: Timing, stated: string): void {
    const height = trigger.interval?.first ?? trigger.height;
    if (expiresAt !== 0n && expiresAt < height) {
      throw new Error(`${stated} ends at height ${expiresAt}, below the due height ${height}: it would never fire`);
    }
    const due = trigger.time?.seconds ?? trigger.calendar?.every?.anchor ?? 0n;
    if (expiresTime !== 0n && expiresTime < due) {
      const [end, first] = [expiresTime, due].map((second) => stamp(second * perSecond, machineZone()));
      throw new Error(`${stated} ends at ${end}, before it is due at ${first}: it would never fire`);
    }
  }
}

/** enumNames are the names of an enum as the chain has them, of which the generated code keeps the ends. */
const enumNames = (prefix: string, values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
const OnFailureNames = enumNames("ON_FAILURE_", OnFailure);
const IntervalFromNames = enumNames("INTERVAL_FROM_", IntervalFrom);
const MissedNames = enumNames("MISSED_", Missed);
const OnUnfundedNames = enumNames("ON_UNFUNDED_", OnUnfunded);

/** RetryTerms say how a failed fire is tried again, and paid again. */
export interface RetryTerms {
  /** max is how often. */
  max?: number | bigint | string;
  /**
   * after is the distance to the first retry: a time such as 10m where the timer is due by time, else a number of blocks. A
   * bigint is what the chain takes: seconds there, blocks here.
   */
  after?: number | bigint | string;
  /** backoff is by what each further distance is multiplied, 1 to 4. */
  backoff?: number | bigint | string;
  /** on are the errors after which it is tried again, as CODESPACE or CODESPACE/CODE, such as sdk/5 (default: all). */
  on?: readonly (string | { codespace: string; code: number })[];
}

/** isByTime tells whether block time makes a trigger due: then a distance to a retry is in seconds, else in blocks. */
export const isByTime = (trigger: Partial<Trigger> | undefined): boolean =>
  trigger?.time !== undefined || trigger?.calendar !== undefined;

function retryAfter(after: number | bigint | string, byTime: boolean): bigint {
  const text = String(after);
  if (typeof after === "bigint" || !byTime) {
    if (!isDigits(text) && lengthOf(text) !== undefined)
      throw new Error(`${quote(text)} is a time, and the timer counts blocks: want a number of blocks such as 10`);
    return parseCount(text, "number of blocks");
  }
  if (isDigits(text))
    throw new Error(`${quote(text)} has no unit, and the timer is due by time: want a time such as 10m`);
  return (parseDuration(text) + perSecond - 1n) / perSecond;
}

function lengthOf(text: string): bigint | undefined {
  try {
    return parseDuration(text);
  } catch {
    return undefined;
  }
}

/** retryOf reads the terms of retries of a timer that is due by time, or not. */
export function retryOf(terms: RetryTerms | undefined, byTime: boolean): Retry | undefined {
  if (!terms) return undefined;
  const { max, after: distance, backoff, on = [] } = terms;
  if ((max === undefined) !== (distance === undefined))
    throw new Error("retry.max and retry.after go together: want both or neither");
  if (max === undefined || distance === undefined) {
    const [name, value] =
      Object.entries({ backoff, on: on.length > 0 ? on.map(String).join() : undefined }).find(([, v]) =>
        v !== undefined
      ) ?? [];
    if (name === undefined) return undefined;
    throw new Error(`retry.${name} ${quote(String(value))} is stated without retry.max and retry.after`);
  }
  const retry = Retry.create();
  retry.max = naming("retry.max", () => {
    const count = parseCount(String(max), "number of retries");
    if (count >= 2n ** 32n) throw new Error(`${brief(String(max))} is too many`);
    return Number(count);
  });
  if (backoff !== undefined && backoff !== 0) {
    if (!/^[1-4]$/.test(String(backoff))) throw new Error(`retry.backoff ${brief(String(backoff))}: want 1 to 4`);
    retry.backoff = Number(backoff);
  }
  retry.on = on.map((one) => (typeof one === "string" ? errorCode(one) : { ...one }));
  retry.after = naming("retry.after", () => retryAfter(distance, byTime));
  return retry;
}

function errorCode(text: string): { codespace: string; code: number } {
  const [, codespace, , code = "0"] = /^([^/]*)(\/(.*))?$/s.exec(text)!;
  if (codespace === "" || !isDigits(code) || BigInt(code) >= 2n ** 32n) {
    throw new Error(`retry.on ${brief(text)}: want CODESPACE, or CODESPACE/CODE such as sdk/5`);
  }
  return { codespace, code: Number(code) };
}

/** onUnfundedOf reads what happens when the payer can't cover a fire. */
export function onUnfundedOf(value: OnUnfunded | "destroy" | "suspend" | "skip" | undefined): OnUnfunded {
  if (typeof value === "number") return value;
  return choice("onUnfunded", "ON_UNFUNDED_", OnUnfundedNames, value, "destroy, suspend or skip") as OnUnfunded;
}

/** calendarOf is the calendar of a trigger, as nextOccurrence takes it. One without an anchor begins at a second. */
export function calendarOf(trigger: CalendarTrigger, now: number): Calendar {
  const { every: distance, cron } = trigger;
  return {
    every: distance &&
      { seconds: Number(distance.seconds), anchor: Number(distance.anchor) || now + Number(distance.seconds) },
    cron: cron && { ...cron },
    offsetMinutes: trigger.offsetMinutes,
    transitions: trigger.transitions.map((t) => ({ from: Number(t.from), offsetMinutes: t.offsetMinutes })),
  };
}

/** Previewing says from when to look, until when, and in which zone times are written. */
export interface Previewing {
  /** Zone of the texts (default: that of the statement, or of the machine). */
  zone?: string;
  now?: Date;
  /** ends is the last second at which the timer may fire (default: 396 days from now). */
  ends?: bigint;
}

/** Occurrence is when a timer is due: as a time, and in words of a zone, such as "Fri 2030-02-01 09:00:00 +01:00". */
export interface Occurrence {
  time: Date;
  text: string;
}

/**
 * preview is when a timer is due next, so many times at most: none for what is due at heights, or when state changes.
 */
export function preview(what: When | Partial<Trigger>, count = 5, options: Previewing = {}): Occurrence[] {
  const now = options.now ?? new Date();
  const begin = Math.floor(now.getTime() / 1000);
  let zone = options.zone === undefined ? machineZone() : zoneOf(options.zone);
  let ends = Number(options.ends ?? BigInt(begin + cover));
  let trigger: Partial<Trigger>;
  let most = count;
  if (what instanceof When) {
    const timing = what.compile({ now, ends: options.ends });
    trigger = timing.trigger;
    if (timing.repeat?.remaining) most = Math.min(count, Number(timing.repeat.remaining));
    if (timing.expiresTime !== 0n) ends = Number(timing.expiresTime);
    if (options.zone === undefined) zone = zoneIn(timing, zone);
  } else {
    trigger = what;
  }
  const found: Occurrence[] = [];
  const add = (second: number): void => {
    found.push({ time: new Date(second * 1000), text: momentText(second, zone) });
  };
  if (trigger.time && Number(trigger.time.seconds) <= ends && count > 0) add(Number(trigger.time.seconds));
  if (trigger.calendar) {
    const calendar = calendarOf(trigger.calendar, begin);
    for (let second: number | undefined = begin; found.length < most;) {
      second = nextOccurrence(calendar, second, ends);
      if (second === undefined) break;
      add(second);
    }
  }
  return found;
}

/** zoneIn is the zone that a statement names, or that its rule states as an offset. */
function zoneIn({ zone, trigger }: Timing, otherwise: Zone): Zone {
  if (zone === otherwise.name) return otherwise;
  return /^UTC[+-]/.test(zone)
    ? { name: zone, offsetAt: () => (trigger.calendar?.offsetMinutes ?? 0) * 60 }
    : zoneOf(zone);
}
