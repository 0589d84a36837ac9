// The module's events as messages.
import * as events from "./gen/timers/v1/events.js";
import type { BlockEvent } from "./outcome.js";

/** Events are the module's events by name: events.TimerFired. */
type Events = typeof events;

/** EventName is the name of an event of the module. */
export type EventName = { [Name in keyof Events]: Name extends `Timer${string}` ? Name : never }[keyof Events];

/** TimerEvent is an event of the module: its name, and the message. Its type says which fields the value has. */
export type TimerEvent = {
  [Name in EventName]: Events[Name] extends { fromJSON(json: any): infer Value } ? { type: Name; value: Value } : never;
}[EventName];

/**
 * eventOf reads an event as a node reports it; undefined if it is none of the module, or of a newer one. Numbers of 64
 * bits are bigint, and enums have their names: events.EndReason.COMPLETED.
 */
export function eventOf(event: BlockEvent): TimerEvent | undefined {
  const name = /^timers\.v1\.(Timer\w+)$/.exec(event.type)?.[1];
  const type = name !== undefined && Object.hasOwn(events, name) ? (events as any)[name] : undefined;
  if (typeof type?.fromJSON !== "function") return undefined;
  const json: Record<string, unknown> = {};
  for (const { key, value } of event.attributes) {
    // The SDK adds these, which belong to no message.
    if (key !== "mode" && key !== "msg_index") json[key] = JSON.parse(value);
  }
  return { type: name, value: type.fromJSON(json) } as TimerEvent;
}

export { events };
