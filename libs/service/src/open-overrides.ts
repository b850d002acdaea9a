import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { ServiceContext } from "@signalbox/runtime";

type Context = Pick<ServiceContext<unknown>, "instance" | "log" | "runner" | "health"> & { readonly service: string };

/** The overrides of properties in force, for all services alike. */
export interface Overrides {
  /** By property name, with the revision of the newest change that was read; 0 before any. */
  current(): { readonly values: Readonly<Record<string, unknown>>; readonly revision: number };
  /** Settles when the topic was read to the end it had at start. */
  readonly caughtUp: Promise<void>;
  /** Calls back after each change that is read once it has caught up. */
  onChange(listener: () => void): void;
}

/**
 * Reads the state topic of overrides from its beginning and keeps reading. When the log goes away the last state stays.
 * Records come at least once and are compacted, so only a higher revision of a property counts.
 */
export async function openOverrides(context: Context, eventLog: Pick<EventLog, "broadcast">): Promise<Overrides> {
  const { service, instance, log, runner, health } = context;
  const values = new Map<string, unknown>();
  const revisions = new Map<string, number>();
  const listeners: (() => void)[] = [];
  let revision = 0;
  let isCaughtUp = false;

  function onRecord(record: ReceivedRecord): void {
    try {
      if (record.value !== null && eventNameOf(record.headers) === "config.changed") apply(record);
    } catch (error) {
      // Ending the reader over one record would hide every later change, so it is reported and passed over.
      log.error({ error, key: record.key, offset: String(record.offset) }, "an override is unreadable");
    }
  }

  function apply(record: ReceivedRecord): void {
    const { data } = decodeEvent("config.changed", record);
    if (data.revision <= (revisions.get(data.property) ?? 0)) return;
    revisions.set(data.property, data.revision);
    if (data.set) values.set(data.property, data.value);
    else values.delete(data.property);
    revision = Math.max(revision, data.revision);
    if (isCaughtUp) for (const listener of listeners) listener();
  }

  const reader = await eventLog.broadcast({
    service,
    instance,
    topics: ["signalbox.config.v1"],
    from: "start",
    onRecord,
  });
  runner.defer("configuration reader", () => reader.close());
  health.live("configuration overrides", () => reader.liveness());
  const caughtUp = reader.caughtUp.then(() => {
    isCaughtUp = true;
  });
  caughtUp.catch(() => {}); // whoever does not wait for it learns of a failure from liveness

  return {
    current: () => ({ values: Object.fromEntries(values), revision }),
    caughtUp,
    onChange: (listener) => void listeners.push(listener),
  };
}
