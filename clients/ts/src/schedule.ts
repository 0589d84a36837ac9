// When a calendar is due: what the chain computes, from the same vectors (x/timers/schedule).

/** Cron is a rule of sets of local time, each given as bits. One with all bits restricts nothing. */
export interface Cron {
  /** Bits 0 to 59. */
  minutes: bigint;
  /** Bits 0 to 23. */
  hours: number;
  /** Bits 1 to 31. */
  days: number;
  lastDay: boolean;
  /** Bits 1 to 12. */
  months: number;
  /** Bits 0 to 6, from Sunday on. */
  weekdays: number;
  /** Keeps of a month's days in weekdays those at these positions: bits 1 to 5 from the first on, 6 to 10 from the last back. 0: all. */
  nth?: number;
}

/** Calendar is a rule, and the offset of local time from UTC. All instants are seconds since 1970. */
export interface Calendar {
  /** Every is due at its anchor, and each so many seconds after it. */
  every?: { seconds: number; anchor: number };
  cron?: Cron;
  /** offsetMinutes is local time less UTC before the first transition. */
  offsetMinutes: number;
  /** transitions change the offset, in ascending order. */
  transitions: readonly { from: number; offsetMinutes: number }[];
}

/** maxTime is the last second of the year 9999. */
export const maxTime = 253_402_300_799;

const allDays = 0xfffffffe;
const allWeekdays = 0x7f;
const minutesPerDay = 24 * 60;
/** A leap day comes at most eight years after the last one, and a fifth weekday of February at most forty. */
const maxDays = (c: Cron): number => (c.nth ? 40 : 8) * 366;

const has = (set: number, bit: number): boolean => ((set >>> bit) & 1) === 1;

/** dayMatches takes the days since 1970. Where days and weekdays are both restricted, either is enough. */
function dayMatches(c: Cron, day: number): boolean {
  const date = new Date(day * 86_400_000);
  if (!has(c.months, date.getUTCMonth() + 1)) return false;
  const isLast = new Date((day + 1) * 86_400_000).getUTCDate() === 1;
  const byNumber = has(c.days, date.getUTCDate()) || (c.lastDay && isLast);
  const byWeekday = has(c.weekdays, date.getUTCDay());
  if (c.nth) return byWeekday && atPosition(c, c.nth, day);
  return c.days !== allDays && c.weekdays !== allWeekdays ? byNumber || byWeekday : byNumber && byWeekday;
}

/** atPosition tells whether a day in weekdays is at one of the positions among those of its month. */
function atPosition(c: Cron, nth: number, day: number): boolean {
  const date = (of: number): Date => new Date(of * 86_400_000);
  const first = day - date(day).getUTCDate() + 1;
  let before = 0;
  let all = 0;
  for (let of = first; date(of).getUTCMonth() === date(day).getUTCMonth(); of++) {
    if (has(c.weekdays, date(of).getUTCDay())) {
      all++;
      if (of < day) before++;
    }
  }
  const [position, fromLast] = [before + 1, all - before];
  return (position <= 5 && has(nth, position)) || (fromLast <= 5 && has(nth, 5 + fromLast));
}

/** matching is the first local minute that matches, from one on (step 1) or down from one (step -1). */
function matching(c: Cron, from: number, step: 1 | -1): number | undefined {
  let day = Math.floor(from / minutesPerDay);
  let minute = from - day * minutesPerDay;
  for (let i = 0, most = maxDays(c); i <= most; i++) {
    if (dayMatches(c, day)) {
      for (; minute >= 0 && minute < minutesPerDay; minute += step) {
        if (has(c.hours, Math.floor(minute / 60)) && (c.minutes >> BigInt(minute % 60)) & 1n) return day * minutesPerDay + minute;
      }
    }
    day += step;
    minute = step > 0 ? 0 : minutesPerDay - 1;
  }
  return undefined;
}

/** reached is the last local minute that clocks have shown or passed at an instant. */
function reached(c: Calendar, at: number): number {
  let [passed, offset] = [-Infinity, c.offsetMinutes];
  for (const t of c.transitions) {
    if (t.from > at) break;
    passed = Math.max(passed, t.from / 60 - 1 + offset);
    offset = t.offsetMinutes;
  }
  return Math.max(passed, Math.floor(at / 60) + offset);
}

/** due is the first instant at which clocks show a local minute, or have passed it. */
function due(c: Calendar, local: number): number {
  let [from, offset] = [-Infinity, c.offsetMinutes];
  for (const t of c.transitions) {
    const minute = Math.max(from, local - offset);
    if (minute < t.from / 60) return minute * 60;
    [from, offset] = [t.from / 60, t.offsetMinutes];
  }
  return Math.max(from, local - offset) * 60;
}

/**
 * nextOccurrence is the first one after an instant and up to a horizon. A local minute that clocks show twice counts the
 * first time, and one that they leave out is due at that change.
 */
export function nextOccurrence(c: Calendar, after: number, horizon: number = maxTime): number | undefined {
  let next: number | undefined;
  if (c.every) {
    const { seconds, anchor } = c.every;
    next = after < anchor ? anchor : after - ((after - anchor) % seconds) + seconds;
  } else if (c.cron) {
    const local = matching(c.cron, reached(c, Math.max(after, -1)) + 1, 1);
    next = local === undefined ? undefined : due(c, local);
  }
  return next !== undefined && next <= Math.min(horizon, maxTime) ? next : undefined;
}

/** latestOccurrence is the last one up to an instant. */
export function latestOccurrence(c: Calendar, now: number): number | undefined {
  now = Math.min(now, maxTime);
  let latest: number | undefined;
  if (c.every) {
    latest = now < c.every.anchor ? undefined : now - ((now - c.every.anchor) % c.every.seconds);
  } else if (c.cron) {
    const local = matching(c.cron, reached(c, now), -1);
    latest = local === undefined ? undefined : due(c, local);
  }
  return latest !== undefined && latest >= 0 ? latest : undefined;
}
