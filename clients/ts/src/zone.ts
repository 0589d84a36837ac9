// Time zones, as the runtime's Intl knows them, and their offsets as a calendar of the chain states them.
import { type Calendar, maxTime } from "./schedule.js";
import { brief } from "./span.js";

/** Zone is a name, and an offset from UTC in seconds at each second since 1970. */
export interface Zone {
  name: string;
  offsetAt(second: number): number;
}

const day = 86_400;
/**
 * cover is how far changes are looked for by default: 396 days, the longest life of a timer unless the chain says
 * otherwise.
 */
export const cover = 396 * day;
/** maxTransitions is the largest number that a calendar has. */
const maxTransitions = 16;
/** A zone that has not changed for so long has no rule that changes it. */
const still = 30 * 365 * day;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(name: string): Intl.DateTimeFormat {
  let format = formats.get(name);
  if (!format) {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    formats.set(name, format);
  }
  return format;
}

/** zoneOf is the zone of a name of the IANA database, such as Europe/Berlin, or UTC. */
export function zoneOf(name: string): Zone {
  if (name === "UTC") return { name, offsetAt: () => 0 };
  let format: Intl.DateTimeFormat;
  try {
    // Intl takes offsets, and names in any case, which other clients do not.
    if (!/^[A-Za-z]/.test(name) || otherCase(name)) throw new RangeError(name);
    format = formatOf(name);
  } catch {
    const near = nearestZones(name);
    const meant = near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
    throw new Error(`${brief(name)} is no time zone: want a name such as Europe/Berlin, or UTC${meant}`);
  }
  const offsetAt = (second: number): number => {
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(second * 1000)) part[type] = Number(value);
    return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) / 1000 - second;
  };
  return { name, offsetAt };
}

/** machineZone is the zone of the machine. */
export function machineZone(): Zone {
  return zoneOf(new Intl.DateTimeFormat().resolvedOptions().timeZone);
}

/** fixedZone is the zone of an offset from UTC. */
export function fixedZone(name: string, seconds: number): Zone {
  return { name, offsetAt: () => seconds };
}

/**
 * Compiled are the offsets of a zone, and when they change next after that; undefined if no further change is known.
 */
export interface Compiled extends Pick<Calendar, "offsetMinutes" | "transitions"> {
  until?: number;
}

/**
 * compile has the offset of a zone, and its transitions from a day before now until a second. It stops earlier at the
 * largest number of transitions, which are eight years of summer and winter time.
 */
export function compile(zone: Zone, now: number, until: number = now + cover): Compiled {
  until = Math.min(until, maxTime);
  // A day earlier, so that minutes which clocks have just shown do not count again.
  let at = now - day;
  let offset = minutesAt(zone, at);
  const offsetMinutes = offset;
  const transitions: { from: number; offsetMinutes: number }[] = [];
  while (at <= maxTime) {
    const next = changeAfter(zone, at, until);
    if (next === undefined) break;
    offset = minutesAt(zone, next);
    if (next > until || transitions.length === maxTransitions) return { offsetMinutes, transitions, until: next };
    transitions.push({ from: next, offsetMinutes: offset });
    at = next;
  }
  return { offsetMinutes, transitions };
}

/** changeAfter is the first second after another with another offset: looked for until a year after the second one. */
function changeAfter(zone: Zone, at: number, until: number): number | undefined {
  const offset = zone.offsetAt(at);
  for (let low = at; low <= Math.min(until + 400 * day, at + still, maxTime);) {
    let high = low + day;
    if (zone.offsetAt(high) === offset) {
      low = high;
      continue;
    }
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (zone.offsetAt(middle) === offset) low = middle;
      else high = middle;
    }
    return high;
  }
  return undefined;
}

/** minutesAt is the offset of a zone in minutes. Those with seconds are history. */
function minutesAt(zone: Zone, at: number): number {
  const seconds = zone.offsetAt(at);
  if (seconds % 60 !== 0) {
    const date = new Date(at * 1000).toISOString().slice(0, 10);
    throw new Error(`time zone ${zone.name} is ${seconds} seconds from UTC at ${date}: want whole minutes`);
  }
  return seconds / 60;
}

const names = (): string[] => [...Intl.supportedValuesOf("timeZone"), "UTC"];

/** otherCase reports whether a name is that of a zone in other letters. */
function otherCase(name: string): boolean {
  const all = names();
  return !all.includes(name) && all.some((one) => one.toLowerCase() === name.toLowerCase());
}

const placeOf = (zone: string): string => zone.slice(zone.lastIndexOf("/") + 1);

/** nearestZones are the zones that a name may have meant, three at most: by letters, or by the place alone. */
function nearestZones(name: string): string[] {
  if (name === "") return [];
  const all = names();
  name = name.replace(/^([A-Z]{3,5})[-+]?\d.*$/, "$1");
  if (all.includes(name)) return [name];
  const near = nearest(name, all).sort();
  if (near.length === 0) {
    const meant = nearest(placeOf(name), all.map(placeOf));
    near.push(...all.filter((zone) => meant.includes(placeOf(zone))));
  }
  return near.slice(0, 3);
}

/** nearest are the words that begin with another, or differ from it by the fewest letters, two at most. */
function nearest(word: string, words: string[]): string[] {
  word = word.toLowerCase();
  for (let most = 1; most <= 2; most++) {
    const near = words.filter((one) => one.toLowerCase().startsWith(word) || distance(one.toLowerCase(), word) <= most);
    if (near.length > 0) return near;
  }
  return [];
}

/** distance is by how many letters two words differ: added, left out or replaced. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}
