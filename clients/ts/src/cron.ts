// Rules of local time as people write them, such as month@last 18:00 or 0 9 * * 1-5.
import type { Cron } from "./schedule.js";
import { brief, isDigits } from "./span.js";
import { type Zone, fixedZone } from "./zone.js";

const months = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export const want =
  "want one such as month@1 09:00, month@last 18:00, mon,thu@09:00, weekday@09:00, day@09:00, hour@:30, 90m, " +
  "or a cron expression such as '0 9 * * 1-5'";

/** byTheClock is DAYS@TIME, or MONTHS@DAYS TIME, with an offset from UTC if it is not meant in the zone. */
const byTheClock = /^([a-z,-]+)@(?:([a-z0-9,-]+) )?(?:(\d\d?):|:)(\d\d) ?(z|[+-]\d\d:\d\d)?$/;

/** macros are those of crontab. */
const macros: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
/** dayWords are sets of weekdays that have a name. */
const dayWords: Record<string, string> = { day: "*", weekday: "1-5", weekend: "6,0" };
/** bare are words without a time, and what may be meant by them. */
const bare: Record<string, string> = {
  hour: "hour@:00, or 1h",
  day: "day@09:00, or 24h",
  week: "mon@09:00",
  month: "month@1 09:00",
  year: "jan@1 09:00",
  weekday: "weekday@09:00",
  weekend: "weekend@09:00",
};

const own = (record: Record<string, string>, key: string): string
  | undefined => (Object.hasOwn(record, key) ? record[key] : undefined);

/**
 * isByTheClock reports whether a text is meant as a rule of local time, and not as a number of blocks or a distance.
 */
export const isByTheClock = (text: string): boolean => /[@ *]/.test(text);

/** wordsOf is a rule in small letters, with one space where there are several. */
export const wordsOf = (text: string): string => text.toLowerCase().trim().split(/\s+/).join(" ");

/** Rule is a rule, and the zone that its text states; undefined if it states none. */
export interface Rule {
  cron: Cron;
  zone?: Zone;
}

/** zonedCron is a cron expression that begins with its zone, as some programs write it. */
const zonedCron = /^\s*(?:CRON_)?TZ=(\S+)\s+(.*?)\s*$/;

/** parseRule reads a rule of local time; undefined if the text is meant as a distance. */
export function parseRule(text: string): Rule | undefined {
  const zoned = zonedCron.exec(text);
  if (zoned)
    throw new Error(`${brief(text)} states a zone within: want zone ${zoned[1]} beside '${zoned[2]}'`);
  const words = wordsOf(text);
  const m = byTheClock.exec(words);
  if (!m && !isByTheClock(words)) return undefined;
  const said = (why: string): Error => new Error(`${brief(text)} ${why}`);
  let expression = words;
  if (m) {
    expression = expressionOf(m, said);
  } else {
    const macro = own(macros, words);
    if (macro === undefined && words.includes("@")) throw said(`is no recurring time: ${want}`);
    expression = macro ?? words;
  }
  const zone = m?.[5] === undefined ? undefined : offsetZone(m[5], said);
  try {
    return { cron: parseCron(expression), zone };
  } catch (error) {
    throw new Error(`${brief(text)}: ${(error as Error).message}`);
  }
}

/** meantBy is what may be meant by a word without a time. */
export function meantBy(word: string): string | undefined {
  const day = isDigits(word) ? undefined : weekdayField.value(word);
  if (day !== undefined) return weekdays[day % 7] + "@09:00";
  word = word.replace(/ly$/, "");
  return own(bare, word === "dai" ? "day" : word);
}

/** expressionOf is the cron expression that the parts of byTheClock stand for. */
function expressionOf([, set, days = "", hour = "", minute]: RegExpExecArray, said: (why: string) => Error): string {
  const isMonth = monthField.value(set.replaceAll("-", ",").split(",")[0]) !== undefined;
  const ofWord = own(dayWords, set);
  if ((set === "hour") !== (hour === "") || (set === "hour" && days !== "")) {
    throw said("is no recurring time: want a time of day such as 09:00, or hour@:30 for each hour");
  }
  if (set === "hour") return `${minute} * * * *`;
  if (ofWord !== undefined && days === "") return `${minute} ${hour} * * ${ofWord}`;
  if ((set === "month" || isMonth) && days === "") {
    throw said(`has no day: want ${set}@1 ${hour}:${minute}, or ${set}@last ${hour}:${minute}`);
  }
  if (set === "month") return `${minute} ${hour} ${days} * *`;
  if (isMonth) return `${minute} ${hour} ${days} ${set} *`;
  if (days === "") return `${minute} ${hour} * * ${set}`;
  throw said(`has days of the month next to ${set}: want month@${days} ${hour}:${minute}`);
}

/** offsetZone is the zone of an offset from UTC. */
function offsetZone(text: string, said: (why: string) => Error): Zone {
  if (text === "z") return fixedZone("UTC", 0);
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(4))];
  if (minutes > 59 || hours * 60 + minutes > 18 * 60) {
    throw said(`has the offset ${text} from UTC: want -18:00 to +18:00, such as +01:00`);
  }
  return fixedZone("UTC" + text, (text[0] === "-" ? -60 : 60) * (hours * 60 + minutes));
}

/** lastDay is the bit of the last day of the month among those of days. */
const lastDay = 1n << 32n;

/** Field is one of the five of a cron expression: numbers from low to high, some of which have names. */
class Field {
  /** names begin with that of low; three letters of each are enough. unit is that of a duration, if it has one. */
  constructor(
    readonly name: string,
    readonly low: number,
    readonly high: number,
    readonly names: readonly string[],
    readonly unit: string,
  ) {}

  /** parse reads a list of values and ranges with steps, as bits. */
  parse(text: string): bigint {
    let set = 0n;
    for (const part of text.split(",")) {
      if (this.name === "day" && (part === "l" || part === "last")) {
        set |= lastDay;
        continue;
      }
      const [low, high, step] = this.range(part);
      for (let value = low; value <= high; value += step) set |= 1n << BigInt(value);
    }
    return set;
  }

  /** value reads a number or a name. */
  value(text: string): number | undefined {
    if (isDigits(text)) {
      const n = Number(text);
      return n >= this.low && n <= this.high ? n : undefined;
    }
    const i = this.names.findIndex((name) => text === name || text === name.slice(0, 3));
    return i < 0 ? undefined : i + this.low;
  }

  /** range reads *, a value, or a range, each with a step if need be. A value with a step is the begin of a range. */
  private range(text: string): [low: number, high: number, step: number] {
    const [span, stepText] = cut(text, "/");
    const [first, last] = cut(span, "-");
    let low = this.low;
    let high = this.name === "weekday" ? 6 : this.high;
    if (span !== "*") {
      const from = this.value(first);
      let to = last === undefined ? from : this.value(last);
      if (from === undefined || to === undefined) throw this.unknown(text);
      if (from > to && to === 0 && this.name === "weekday") {
        to = 7; // until Sunday
      } else if (from > to) {
        throw new Error(
          `the ${this.name}s ${
            brief(text)
          } run backwards: want ${last}-${first}, or ${first}-${high},${this.low}-${last}`,
        );
      }
      if (last !== undefined || stepText === undefined) high = to;
      low = from;
    }
    if (stepText === undefined) return [low, high, 1];
    const step = isDigits(stepText) && stepText.length < 19 ? Number(stepText) : 0;
    if (step < 1) {
      throw new Error(
        `the ${this.name}s ${brief(text)} have no step: want a whole number from 1 on, such as ${span}/2`,
      );
    }
    if (step > high - low) {
      const meant = this.unit === "" ? "" : `, or ${step}${this.unit} for every ${step} ${this.name}s`;
      throw new Error(
        `the ${this.name}s ${brief(text)} are ${low} alone, since the step leads beyond ${high}: want ${low}${meant}`,
      );
    }
    return [low, high, step];
  }

  private unknown(text: string): Error {
    const names = this.name === "day"
      ? " or L for the last"
      : this.names.length > 0
      ? ` or names such as ${this.names[1].slice(0, 3)}`
      : "";
    return new Error(`${brief(text)} is no ${this.name}: want numbers from ${this.low} to ${this.high}${names}, ` +
      "lists (1,3), ranges (1-3), steps (*/2) or *");
  }
}

/** cut is what comes before a separator, and after it; undefined without one. */
function cut(text: string, separator: string): [string, string?] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

const monthField = new Field("month", 1, 12, months, "");
const weekdayField = new Field("weekday", 0, 7, weekdays, "");
const fields = [new Field("minute", 0, 59, [], "m"), new Field("hour", 0, 23, [], "h"),
  new Field("day", 1, 31, [], "d"), monthField, weekdayField];

/** parseCron reads a cron expression in small letters. */
function parseCron(expression: string): Cron {
  const texts = expression.split(" ").filter((text) => text !== "");
  if (texts.length !== 5) {
    throw new Error("a cron expression has five fields, minute, hour, day of the month, month and day of the week, " +
      `and this has ${texts.length}: ${want}`);
  }
  const [minutes, hours, days, inMonths, on] = fields.map((field, i) => field.parse(texts[i]));
  const cron: Cron = {
    minutes,
    hours: Number(hours),
    days: Number(days & ~lastDay),
    lastDay: (days & lastDay) !== 0n,
    months: Number(inMonths),
    // Sunday is 0 and 7.
    weekdays: Number((on | (on >> 7n)) & 0x7fn),
  };
  if (!hasDay(cron)) {
    throw new Error(
      "no month of the set has any of the days: want a day that one of them has, of February at most the 29th",
    );
  }
  return cron;
}

/** hasDay reports whether a month of the set has one of the days, or days of the week are enough. */
function hasDay({ days, lastDay: last, months: set, weekdays: on }: Cron): boolean {
  if (last || on !== 0x7f) return true;
  const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return longest.some((length, i) => ((set >>> (i + 1)) & 1) === 1 && (days & (2 ** (length + 1) - 2)) !== 0);
}
