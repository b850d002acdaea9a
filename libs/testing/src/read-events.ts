import type { EventName } from "@signalbox/contracts";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedEvent } from "@signalbox/events";
import { eventually } from "./eventually.ts";
import type { TestContext } from "./test-context.ts";

/** Reads arriving events, and returns them once there are `count`. */
export interface EventReader {
  eventsOf(accountId: string, count: number, name?: EventName): Promise<ReceivedEvent<EventName>[]>;
  eventsAbout<N extends EventName>(subject: string, count: number, name: N): Promise<ReceivedEvent<N>[]>;
}

/** Reads topics from their beginning, as any consumer would, for a test to inspect. */
export async function readEvents(
  eventLog: EventLog,
  { service, instance }: Pick<TestContext<never>, "service" | "instance">,
  topics: readonly string[],
): Promise<EventReader> {
  const received: ReceivedEvent<EventName>[] = [];
  await eventLog.broadcast({
    service: `${service}-tests`,
    instance,
    topics,
    from: "start",
    onRecord: (record) => {
      const name = record.value && eventNameOf(record.headers);
      if (name) received.push(decodeEvent(name, record));
    },
  });
  /** `matches` compares the names, which the compiler cannot follow from a union to one of its members. */
  const such = <N extends EventName>(count: number, matches: (event: ReceivedEvent<EventName>) => boolean) =>
    eventually(
      () => {
        const found = received.filter(matches) as unknown[] as ReceivedEvent<N>[];
        return found.length >= count && found;
      },
      { message: `${count} such events are on the log` },
    );
  return {
    eventsOf: (accountId, count, name) =>
      such(count, (event) => event.accountId === accountId && (!name || event.name === name)),
    eventsAbout: (subject, count, name) => such(count, (event) => event.subject === subject && event.name === name),
  };
}
