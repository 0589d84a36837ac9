// What people say of moments and distances in time, read as the command line of the chain reads it. Instants are
// nanoseconds since 1970.
import type { Zone } from "./zone.js";
import { fixedZone } from "./zone.js";

const second = 1_000_000_000n;
const day = 86_400n * second;
const maxDuration = 2n ** 63n - 1n;

/** brief quotes a text as Go does, 80 characters of it at most. */
export function brief(text: string): string {
  return quote([...text].slice(0, 80).join(""));
}

/** quote writes a text in quotes, as Go does. */
export function quote(text: string): string {
  const short: Record<string, string> = {
    '"': '\\"',
    "\\": "\\\\",
    "\x07": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
  };
  return '"' + text.replace(/["\\\p{C}\p{Zl}\p{Zp}]|[^\P{Zs} ]/gu, (c) => {
    const code = c.codePointAt(0)!;
    if (short[c]) return short[c];
    if (code < 0x80) return "\\x" + code.toString(16).padStart(2, "0");
    return code < 0x10000 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
  }) + '"';
}

export const isDigits = (text: string): boolean => /^[0-9]+$/.test(text);

/** parseCount reads a positive number of blocks or fires, or a height. */
export function parseCount(text: string, what: string): bigint {
  if (isDigits(text) && BigInt(text) > maxDuration) {
    throw new Error(`${brief(text)} is too large a ${what}: want at most ${maxDuration}`);
  }
  if (!isDigits(text) || BigInt(text) === 0n)
    throw new Error(`${brief(text)} is no ${what}: want a whole number from 1 on`);
  return BigInt(text);
}

const wantDuration = "want a duration such as 90s, 10m, 1h30m, 2d or 1d12h";
const units: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  "µs": 1_000n,
  "μs": 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
};

/** NoDuration tells what is none from what is too long or does not lie ahead. */
class NoDuration extends Error {}

/**
 * parseDuration reads a duration in nanoseconds that may begin with whole days: 10m, 1h30m, 2d, 1d12h. It is positive.
 */
export function parseDuration(text: string): bigint {
  const at = text.indexOf("d");
  const [days, rest] = at < 0 ? ["0", text] : [text.slice(0, at), text.slice(at + 1)];
  if (!isDigits(days) || BigInt(days) >= 2n ** 32n) throw new NoDuration(`${brief(text)} is no duration: ${wantDuration}`);
  const long = `${brief(text)} is too long: ${maxDuration / day} days are the most`;
  if (BigInt(days) > maxDuration / day) throw new Error(long);
  let total = BigInt(days) * day;
  if (rest !== "" || at < 0) {
    const part = parsePart(rest);
    // A sign after days would be a riddle: 1d-1h.
    if (part === undefined || (at >= 0 && /[+-]/.test(rest)))
      throw new NoDuration(`${brief(text)} is no duration: ${wantDuration}`);
    if (part > maxDuration - total) throw new Error(long);
    total += part;
  }
  if (total <= 0n) throw new Error(`${brief(text)} does not lie ahead: ${wantDuration}`);
  return total;
}

/** parsePart reads what Go's time.ParseDuration does; undefined if it is no duration. */
function parsePart(text: string): bigint | undefined {
  const [, sign, rest] = /^([+-]?)(.*)$/s.exec(text)!;
  if (rest === "0") return 0n;
  if (!/^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let total = 0n;
  for (const [, whole, fraction = "", unit] of rest.matchAll(/(\d*)\.?(\d*)?(ns|us|µs|μs|ms|s|m|h)/g)) {
    const size = units[unit];
    total += BigInt(whole || "0") * size;
    // A fraction is as exact as Go's floating point has it.
    const digits = fraction.slice(0, 18);
    if (digits !== "") total += BigInt(Math.trunc(Number(digits) * (Number(size) / 10 ** digits.length)));
    if (total > maxDuration) return undefined;
  }
  return sign === "-" ? -total : total;
}

const wantDistance = "want a time such as 90s, 10m, 2d, 2w, 6mo or 1y";

/**
 * later is a moment so much after another: 10m, 1h30m, 2d, 2w, 6mo, 1y or 1y6mo. Years and months are those of the
 * calendar in a zone; where a month has no such day, its last one counts.
 */
export function later(text: string, from: bigint, zone: Zone): bigint {
  const m = /^(?:(\d{1,4})y)?(?:(\d{1,4})mo)?(?:(\d{1,4})w)?(.*)$/.exec(text);
  if (!m || text === "") throw new Error(`${brief(text)} is no time: ${wantDistance}`);
  const [years, months, weeks] = [m[1], m[2], m[3]].map((count) => Number(count ?? 0));
  let to = addDate(from, zone, years, months, 0);
  const [is, was] = [dateOf(to, zone), dateOf(from, zone)].map((date) => date.getUTCDate());
  if (is !== was) to = addDate(to, zone, 0, 0, -is);
  to = addDate(to, zone, 0, 0, 7 * weeks);
  if (m[4] !== "") {
    try {
      to += parseDuration(m[4]);
    } catch (error) {
      throw m[4] === text && !(error instanceof NoDuration) ? error : new Error(`${brief(text)} is no time: ${wantDistance}`);
    }
  }
  if (to <= from) throw new Error(`${brief(text)} does not lie ahead: ${wantDistance}`);
  return to;
}

const floor = (at: bigint): number => Number(at >= 0n ? at / second : -((-at + second - 1n) / second));

/** faceOf is what the clocks of a zone show at a moment, as the time of a clock that never changes. */
const faceOf = (at: bigint, zone: Zone): bigint => at + BigInt(zone.offsetAt(floor(at))) * second;

const dateOf = (at: bigint, zone: Zone): Date => new Date(Number(faceOf(at, zone) / 1_000_000n));

/** shownAt is a moment at which clocks show a time, or would if they were not set over it. */
function shownAt(face: bigint, zone: Zone): bigint {
  const first = zone.offsetAt(floor(face));
  return first === 0 ? face : face - BigInt(zone.offsetAt(floor(face) - first)) * second;
}

function addDate(at: bigint, zone: Zone, years: number, months: number, days: number): bigint {
  const face = faceOf(at, zone);
  const rest = ((face % day) + day) % day;
  const date = new Date(Number((face - rest) / 1_000_000n));
  const moved = Date.UTC(date.getUTCFullYear() + years, date.getUTCMonth() + months, date.getUTCDate() + days);
  return shownAt(BigInt(moved) * 1_000_000n + rest, zone);
}

/**
 * momentsAt are the moments at which the clocks of a zone show a time: two where they are set back over it. One that a
 * change of clocks leaves out is the one that they show instead: it is never refused, and never early.
 */
function momentsAt(face: bigint, zone: Zone): bigint[] {
  const at = shownAt(face, zone);
  const left = face - faceOf(at, zone);
  if (left !== 0n) return [left > 0n ? at + left : at];
  for (const far of [-day, day]) {
    const other = at + BigInt(zone.offsetAt(floor(at)) - zone.offsetAt(floor(at + far))) * second;
    if (other !== at && faceOf(other, zone) === face) return other < at ? [other, at] : [at, other];
  }
  return [at];
}

/** wantMoment is what a moment is stated as. */
export const wantMoment =
  "want a date and time such as 2030-01-31T09:00:00Z or '2030-01-31 09:00', or a time of day such as 09:00";
const clockTime = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?(Z|[+-]\d\d:\d\d)?$/;
const dateTime = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(Z|[+-]\d\d:\d\d)?$/;

const dated = /^(\d{4})-(\d\d)-(\d\d)([T ].*)?$/;
const monthNames = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
  "November", "December"];

/** wrongDate says what is wrong with what is no date and time, and what would do. */
function wrongDate(text: string): string {
  const m = dated.exec(text);
  if (!m) return wantMoment;
  const [year, month, date] = m.slice(1, 4).map(Number);
  if (month < 1 || month > 12) return "a year has the months 01 to 12";
  const days = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  if (date < 1 || date > days) return `${monthNames[month - 1]} ${year} has the days 01 to ${days}`;
  return m[4] === undefined ? `it has no time of day: want one such as '${text} 09:00'` : wantMoment;
}

/**
 * parseMoment reads a date and a time, or a time of day: the first one after now. What states no offset from UTC is
 * meant in a zone. It must lie after now.
 */
export function parseMoment(text: string, now: bigint, zone: Zone): bigint {
  const clock = clockTime.exec(text);
  if (clock) return nextClockTime(clock, now, zone);
  const m = dateTime.exec(text);
  const [year, month, date, hour, minute, sec] = (m ?? []).slice(1, 7).map((part) => Number(part ?? 0));
  const midnight = Date.UTC(year, month - 1, date);
  const offset = m?.[8] === undefined ? undefined : offsetOf(m[8]);
  if (
    !m || new Date(midnight).getUTCMonth() !== month - 1 || date < 1 || hour > 23 || minute > 59 || sec > 59 ||
    Number.isNaN(offset) ||
    year < 100 // of which Date makes another one
  ) {
    throw new Error(`${brief(text)} is no date and time: ${wrongDate(text)}`);
  }
  const nanos = BigInt((m[7] ?? "").slice(0, 9).padEnd(9, "0"));
  const face = BigInt(midnight / 1000 + hour * 3600 + minute * 60 + sec) * second + nanos;
  // Where the clocks show it twice, the first that comes is meant.
  const moments = offset === undefined ? momentsAt(face, zone) : [face - BigInt(offset) * second];
  const moment = moments.find((one) => one > now);
  if (moment === undefined) throw new Error(`${brief(text)} has passed: it is ${stamp(now, zone)}`);
  return moment;
}

/** offsetOf is an offset from UTC in seconds; NaN if there is no such. */
function offsetOf(text: string): number {
  if (text === "Z") return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(4))];
  if (hours > 24 || minutes > 60) return NaN;
  return (text[0] === "-" ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/** nextClockTime is the first moment after now at which it is a time of day. */
function nextClockTime([, hour, minute, sec = "0", offsetText]: RegExpExecArray, now: bigint, zone: Zone): bigint {
  if (offsetText !== undefined) {
    const offset = offsetOf(offsetText);
    if (Number.isNaN(offset))
      throw new Error(`${brief(offsetText)} is no offset from UTC: want Z or one such as +01:00`);
    zone = fixedZone(offsetText, offset);
  }
  const face = faceOf(now, zone);
  const midnight = face - (((face % day) + day) % day);
  for (let days = 0n;; days++) {
    const shown = midnight + days * day + BigInt(Number(hour) * 3600 + Number(minute) * 60 + Number(sec)) * second;
    const moment = momentsAt(shown, zone).find((one) => one > now);
    if (moment !== undefined) return moment;
  }
}

/** seconds is a moment in whole seconds, rounded up: nothing is due before it. */
export function seconds(at: bigint): bigint {
  return BigInt(floor(at + second - 1n));
}

/** stamp writes a moment in a zone: "2030-01-31 09:00:00 +01:00". */
export function stamp(at: bigint, zone: Zone): string {
  const offset = zone.offsetAt(floor(at)) / 60;
  const size = Math.floor(Math.abs(offset));
  const two = (n: number): string => String(n).padStart(2, "0");
  const face = dateOf(at, zone).toISOString().slice(0, 19).replace("T", " ");
  return `${face} ${offset < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** momentText writes a second since 1970 with its weekday: "Fri 2030-02-01 09:00:00 +01:00". */
export function momentText(at: number, zone: Zone): string {
  const face = new Date((at + zone.offsetAt(at)) * 1000);
  const weekday = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][face.getUTCDay()];
  return `${weekday} ${stamp(BigInt(at) * second, zone)}`;
}
