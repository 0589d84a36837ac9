// A calendar in words, as the chain's command line writes it (x/timers/client/when/words.go).
import { type Cron, type Calendar } from "./schedule.js";
import { momentText } from "./span.js";
import { zoneOf } from "./zone.js";

const months = [
  "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
];
const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const allDays = 0xfffffffe, allMonths = 0x1ffe, allWeekdays = 0x7f, allHours = 0xffffff;

/** ruleWords writes a rule of local time: "on the first of each month at 09:00 Europe/Berlin". */
export function ruleWords(calendar: Calendar, zone?: string): string {
  const cron = calendar.cron!;
  const [days, times] = [daysOf(cron), timesOf(cron)];
  const often = days !== "" ? `${days} ` : cron.hours !== allHours && times.startsWith("at") ? "every day " : "";
  return `${often}${times} ${zone ?? clocks(calendar)}`;
}

/**
 * keepsZone tells whether a calendar has a zone's offset from one second to another: then its hours are the zone's.
 */
export function keepsZone(calendar: Calendar, name: string, from: number, until: number): boolean {
  const zone = zoneOf(name);
  const offsetAt = (second: number): number =>
    calendar.transitions.reduce((offset, t) => (t.from <= second ? t.offsetMinutes : offset), calendar.offsetMinutes);
  const asked = calendar.transitions.flatMap((t) => [t.from - 1, t.from]);
  for (let second = from; second < until; second += 7 * 86_400) asked.push(second);
  return [...asked.filter((second) => second >= from && second <= until), from, until]
    .every((second) => zone.offsetAt(second) === offsetAt(second) * 60);
}

const utc = (second: number): string => momentText(second, zoneOf("UTC")).slice(4);

function offset(minutes: number): string {
  if (minutes === 0) return "UTC";
  const size = Math.abs(minutes);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** wellKnown are zones whose clocks change: what has the same clocks is called by the first of these. */
const wellKnown = [
  "Europe/Berlin", "Europe/London", "Europe/Athens", "America/New_York", "America/Chicago", "America/Denver",
  "America/Los_Angeles", "America/Anchorage", "America/Halifax", "America/St_Johns", "America/Santiago", "Australia/Sydney",
  "Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Chatham", "Africa/Cairo", "Africa/Casablanca",
  "Asia/Jerusalem", "Asia/Beirut",
];

/** clocks names a zone with the clocks of a calendar whose own no one has named, or else the offsets from UTC. */
function clocks(calendar: Calendar): string {
  const { transitions } = calendar;
  const [first, last] = [transitions[0], transitions.at(-1)];
  const same = first && last && wellKnown.find((name) => keepsZone(calendar, name, first.from - 1, last.from));
  return same ? `as in ${same}` : offsets(calendar);
}

/** offsets are those of a calendar whose zone no one has named. */
function offsets({ offsetMinutes, transitions }: Calendar): string {
  const all = transitions.map((t) => `, ${offset(t.offsetMinutes)} from ${utc(t.from)}`);
  if (all.length <= 2) return offset(offsetMinutes) + all.join("");
  return `${offset(offsetMinutes)}${all[0]}, with ${all.length - 1} more changes until ${utc(transitions.at(-1)!.from)}`;
}

function daysOf(c: Cron): string {
  const [dates, ofWeek] = [c.days !== allDays, c.weekdays !== allWeekdays];
  const inMonths = c.months === allMonths ? "" : list(numbers(BigInt(c.months)), (month) => months[month - 1]);
  if (dates && ofWeek) return `${datesOf(c, inMonths)} and ${weekdaysOf(c.weekdays)}${inMonths && ` in ${inMonths}`}`;
  if (dates) return datesOf(c, inMonths);
  if (ofWeek) return weekdaysOf(c.weekdays) + (inMonths && ` in ${inMonths}`);
  return inMonths && `every day in ${inMonths}`;
}

const last = 0;

function dateName(day: number): string {
  if (day === last) return "the last day";
  if (day === 1) return "the first";
  const ending = ([11, 12, 13].includes(day) ? undefined : ["st", "nd", "rd"][(day % 10) - 1]) ?? "th";
  return `the ${day}${ending}`;
}

function datesOf(c: Cron, inMonths: string): string {
  const days = numbers(BigInt(c.days >>> 0));
  const text = `on ${list(c.lastDay ? [...days, last] : days, dateName)}`;
  if (inMonths !== "") return `${text} of ${inMonths}`;
  return `${text} of each month${(days.at(-1) ?? 0) > 28 ? " that has one" : ""}`;
}

function weekdaysOf(set: number): string {
  const fromMonday = (set >> 1) | ((set << 6) & (1 << 6));
  return `on ${list(numbers(BigInt(fromMonday)), (day) => `${weekdays[day]}s`)}`;
}

/** listed is how many times of day are listed one by one. */
const listed = 4;

function timesOf(c: Cron): string {
  const [minutes, hours] = [numbers(c.minutes), numbers(BigInt(c.hours))];
  if (c.hours !== allHours && minutes.length * hours.length <= listed) {
    const two = (n: number): string => String(n).padStart(2, "0");
    return `at ${each(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)))}`;
  }
  const step = stepOf(minutes);
  let text = "every minute";
  if (step > 1) text = `every ${step} minutes`;
  else if (minutes.length < 60) text = `at ${counted("minute", minutes)}`;
  if (c.hours !== allHours) return `${text} of the ${counted("hour", hours)}`;
  return text.startsWith("at") ? `${text} of every hour` : text;
}

/** stepOf is the step by which minutes divide the hour from its begin; 0 if they do not. */
function stepOf(minutes: number[]): number {
  const step = 60 / minutes.length;
  return minutes.length > 1 && Number.isInteger(step) && minutes.every((minute, i) => minute === i * step) ? step : 0;
}

const counted = (unit: string, values: number[]): string => `${unit}${values.length > 1 ? "s" : ""} ${list(values, String)}`;

/** numbers are the bits of a set. */
function numbers(set: bigint): number[] {
  const found: number[] = [];
  for (let bit = 0; set >> BigInt(bit) > 0n; bit++) if ((set >> BigInt(bit)) & 1n) found.push(bit);
  return found;
}

/** list is each of some values, or "a to d" if they follow each other. */
function list(values: number[], name: (value: number) => string): string {
  if (values.length === 0) return "none";
  const [from, to] = [values[0], values.at(-1)!];
  return values.length > 2 && to - from === values.length - 1 ? `${name(from)} to ${name(to)}` : each(values.map(name));
}

/** each is "a", "a and b" or "a, b and c". */
function each(texts: string[]): string {
  return texts.length < 2 ? texts.join("") : `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}`;
}
