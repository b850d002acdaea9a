import { eventOf } from "@signalbox/contracts";
import { randomId, systemClock, uuidv7 } from "@signalbox/core";
import { createDeadLetters, type EventLog, openEventLog } from "@signalbox/events";
import { createLogger, createMetrics } from "@signalbox/runtime";
import { openPool, type Pool, sql } from "@signalbox/storage";
import type { System } from "../systems/system.ts";

const parts = {
  log: createLogger({ service: "images", instance: "test", level: "silent" }),
  metrics: createMetrics({ service: "images" }),
  clock: systemClock,
};

/** Messages that the images service could not handle or publish. */
export interface StuckMessages {
  readonly eventLog: EventLog;
  readonly images: Pool;
  /** Adds a dead letter of a consumer, and returns its id with its message. */
  buryLetter(consumer?: string, service?: "images" | "image-worker"): Promise<{ id: string; message: Message }>;
  /** Adds a key with two messages, the first of which is due in an hour. */
  parkTwo(): Promise<{ id: string; key: string; eventIds: readonly string[] }>;
  /** Adds an event that the log refused. */
  refuseEvent(): Promise<{ id: string; message: Message }>;
  close(): Promise<void>;
}

type Message = ReturnType<typeof accountDeleted>;

const park = sql(
  "",
  `insert into signalbox.parked (consumer, key, topic, partition, "offset", timestamp_ms, headers, payload, attempt, next_at, reason)
   values ('images.facts', $1, 'signalbox.account.v1', 0, $2, 0, $3, $4, $5, $6::timestamptz, 'Error: not yet')`,
);
const refuse = sql(
  "",
  `insert into signalbox.outbox_dead (id, event_id, topic, key, headers, payload, created_at, reason)
   values ($1, $2, 'signalbox.account.v1', $3, $4, $5, now(), 'too-large: no')`,
);

/** Opens the log and the database of the images service of a system. */
export async function openStuckMessages({
  eventsUrl,
  databaseUrl,
}: Pick<System, "eventsUrl" | "databaseUrl">): Promise<StuckMessages> {
  const eventLog = await openEventLog(eventsUrl, { clientId: "test", ...parts });
  const url = databaseUrl("images");
  const images = openPool({ url, max: 2, applicationName: "test", runner: { defer: () => {} }, ...parts });
  // Far from the offsets that the system itself reaches.
  let offset = 1_000_000_000;
  return {
    eventLog,
    images,
    async buryLetter(consumer = "images.facts", service = "images") {
      const message = accountDeleted();
      const own = BigInt(++offset);
      const record = { ...message, partition: 3, offset: own, timestampMs: Date.now() };
      const reason = "Error: cannot do this for ada@example.org?token=abcdefgh";
      await createDeadLetters({ service, eventLog, ...parts }).add(record, { consumer, reason, attempts: 4 });
      return { message, id: `${consumer}:signalbox.account.v1:3:${own}` };
    },
    async parkTwo() {
      const messages = [accountDeleted(), accountDeleted()];
      const key = randomId("acc");
      for (const [at, { headers, value }] of messages.entries()) {
        const [tries, due] = at === 0 ? [1, new Date(Date.now() + 3_600_000).toISOString()] : [0, "infinity"];
        await images.query(park, [key, ++offset, JSON.stringify(headers), value, tries, due]);
      }
      return { id: `images.facts:${key}`, key, eventIds: messages.map(({ headers }) => headers.ce_id) };
    },
    async refuseEvent() {
      const message = accountDeleted();
      const { headers, key, value } = message;
      await images.query(refuse, [++offset, headers.ce_id, key, JSON.stringify(headers), value]);
      return { message, id: `images:${headers.ce_id}` };
    },
    async close() {
      await eventLog.close();
      await images.close();
    },
  };
}

/** A message about an account without images, which every consumer of it handles without an effect. */
export function accountDeleted(id = uuidv7()) {
  const accountId = randomId("acc");
  return {
    topic: "signalbox.account.v1",
    key: accountId,
    headers: {
      ce_specversion: "1.0",
      ce_id: id,
      ce_source: "/signalbox/account",
      ce_type: "account.deleted.v1",
      ce_time: new Date().toISOString(),
      ce_subject: accountId,
      ce_accountid: accountId,
      "content-type": "application/json",
      "x-unknown": "of a person",
    },
    value: Buffer.from(JSON.stringify({ ...eventOf("account.deleted").example, id: accountId })),
  };
}
