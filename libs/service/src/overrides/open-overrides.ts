import { setTimeout as sleep } from "node:timers/promises";
import { decodeEvent, type EventLog, eventNameOf, type ReceivedRecord } from "@signalbox/events";
import type { Health, Logger, Runner } from "@signalbox/runtime";
import { FlagSet } from "../flags/flag-set.ts";
import { createRevisionGathering } from "./gather-revisions.ts";
import type { ClassifiedChange, ClassifiedOverrides, OverrideCopy } from "./override-copy.ts";

interface Context {
  readonly service: string;
  readonly instance: string;
  readonly log: Logger;
  readonly runner: Runner;
  readonly health: Health;
}

interface Start {
  readonly copy: OverrideCopy;
  /** Time after which the copy is used instead of the event log. */
  readonly waitMs: number;
}

/** The active overrides of properties, of all services. */
export interface Overrides {
  /** Returns those of the event log; until it was read, those of the copy. */
  current(): ClassifiedOverrides;
  /** The known flags. */
  readonly flags: FlagSet;
  /** Settles when the overrides of the start are known, with their source. */
  readonly settled: Promise<"log" | "copy" | "nowhere">;
  /** Settles when the topic was read to the end that it had at start. */
  readonly caughtUp: Promise<void>;
  /** Returns the milliseconds since the log was last known to contain nothing newer. */
  ageMs(): number;
  /** Returns the time of the last canary that was read; null before any. */
  canaryAt(): Date | null;
  /** Calls the listener after each change once the reader has caught up. */
  onChange(listener: () => void): void;
}

const none: ClassifiedOverrides = { revision: 0, changes: {}, flags: [] };

/**
 * Reads the state topic of overrides from its beginning and keeps reading. During an outage of the log the last state
 * stays, and a copy on disk keeps it for the next process.
 */
export async function openOverrides(context: Context, eventLog: EventLog, start: Start): Promise<Overrides> {
  const { service, instance, runner, health } = context;
  const overrides = new FollowedOverrides(context, start.copy);
  const reader = await eventLog.broadcast({
    service,
    instance,
    topics: ["signalbox.config.v1"],
    from: "start",
    onRecord: (record) => overrides.take(record),
  });
  runner.defer("configuration reader", () => reader.close());
  health.live("configuration overrides", () => reader.liveness());
  const caughtUp = reader.caughtUp.then(() => overrides.catchUp());
  caughtUp.catch(() => {}); // liveness reports a failure to callers that do not wait
  return {
    current: () => overrides.current(),
    flags: overrides.flags,
    settled: overrides.settle(caughtUp, start.waitMs),
    caughtUp,
    ageMs: () => reader.ageMs(),
    canaryAt: () => overrides.canaryAt,
    onChange: (listener) => overrides.onChange(listener),
  };
}

/** The state after the records. They arrive at least once and are compacted, so only a higher revision counts. */
class FollowedOverrides {
  readonly flags = new FlagSet();
  canaryAt: Date | null = null;
  readonly #log: Context["log"];
  readonly #copy: OverrideCopy;
  readonly #keep: (overrides: ClassifiedOverrides) => void;
  readonly #changes = new Map<string, ClassifiedChange>();
  readonly #listeners: (() => void)[] = [];
  readonly #gathering = createRevisionGathering((changes) => this.#take(changes));
  #revision = 0;
  #kept = none;
  #isCaughtUp = false;

  constructor(context: Context, copy: OverrideCopy) {
    this.#log = context.log;
    this.#copy = copy;
    this.#keep = keeper(context, copy);
  }

  current(): ClassifiedOverrides {
    if (!this.#isCaughtUp) return this.#kept;
    const changes = Object.fromEntries(this.#changes);
    return { revision: Math.max(this.#revision, this.flags.revision), changes, flags: this.flags.entries() };
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  take(record: ReceivedRecord): void {
    try {
      if (record.value === null) return;
      const name = eventNameOf(record.headers);
      if (name === "config.changed") this.#apply(record);
      if (name === "flag.changed") this.#putFlag(record);
      if (name === "config.canary_changed") {
        this.canaryAt = new Date(decodeEvent("config.canary_changed", record).data.changed_at);
      }
    } catch (error) {
      // Ending the reader over one record would hide every later change, so the record is reported and skipped.
      const { key, offset } = record;
      this.#log.error({ error, key, offset: String(offset) }, "an override is unreadable");
    }
  }

  #apply(record: ReceivedRecord): void {
    const { property, set, value, secrecy, revision, together = 1 } = decodeEvent("config.changed", record).data;
    if (!this.#isNew(property, revision)) return;
    // Until it has caught up there are no readers, and the rest of an old revision may be gone from the topic.
    this.#gathering.add(
      property,
      { revision, set, value: set ? value : null, secrecy },
      this.#isCaughtUp ? together : 1,
    );
  }

  #isNew(property: string, revision: number): boolean {
    return revision > (this.#changes.get(property)?.revision ?? 0);
  }

  #take(changes: ReadonlyMap<string, ClassifiedChange>): void {
    for (const [property, change] of changes) {
      if (!this.#isNew(property, change.revision)) continue;
      this.#changes.set(property, change);
      this.#revision = Math.max(this.#revision, change.revision);
    }
    this.#notify();
  }

  #putFlag(record: ReceivedRecord): void {
    const { flag, definition, revision } = decodeEvent("flag.changed", record).data;
    if (this.flags.put(flag, definition, revision)) this.#notify();
  }

  #notify(): void {
    if (!this.#isCaughtUp) return;
    this.#keep(this.current());
    for (const listener of this.#listeners) listener();
  }

  catchUp(): void {
    this.#isCaughtUp = true;
    this.#keep(this.current());
  }

  /** Waits for the log, and uses the copy when it is late. */
  async settle(caughtUp: Promise<void>, waitMs: number): Promise<"log" | "copy" | "nowhere"> {
    const timer = new AbortController();
    const late = sleep(waitMs, undefined, { signal: timer.signal });
    await Promise.race([caughtUp, late]).catch(() => {});
    timer.abort();
    late.catch(() => {});
    if (this.#isCaughtUp) return "log";
    const found = await this.#copy.read().catch((error: unknown) => {
      this.#log.error({ error }, "reading the copy of the overrides failed");
      return null;
    });
    if (this.#isCaughtUp) return "log";
    if (found === null) {
      this.#log.error("the event log does not answer and there is no copy of the overrides");
      return "nowhere";
    }
    this.#log.warn({ revision: found.revision }, "the event log does not respond: using the copy of the overrides");
    this.#kept = found;
    for (const { key, definition, revision } of found.flags) this.flags.put(key, definition, revision);
    return "copy";
  }
}

/**
 * Writes the newest state as soon as possible. A disk that refuses it is the operator's to repair, and no reason to
 * stop.
 */
function keeper({ log, runner }: Context, copy: OverrideCopy): (overrides: ClassifiedOverrides) => void {
  let wanted: ClassifiedOverrides | null = null;
  let writing = Promise.resolve();
  let isFailing = false;

  async function write(): Promise<void> {
    const overrides = wanted;
    wanted = null;
    if (overrides === null) return;
    try {
      await copy.write(overrides);
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ error }, "writing the copy of the overrides failed");
      isFailing = true;
    }
  }

  runner.defer("copy of the overrides", () => writing);
  return (overrides) => {
    wanted = overrides;
    writing = writing.then(write);
  };
}
