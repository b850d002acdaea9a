import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { draft, eventOf } from "@signalbox/contracts";
import { MiB, systemClock } from "@signalbox/core";
import { type EventLog, type LogRecord, publishEvents, type ReceivedRecord } from "@signalbox/events";
import { collectGarbage } from "@signalbox/runtime";
import { LiveFeed } from "./live-feed.ts";

type Broadcast = Parameters<EventLog["broadcast"]>[0];

test("an event that is kept for replays does not keep the page of the log that it came in", async () => {
  const asked = Promise.withResolvers<Broadcast>();
  const eventLog = {
    broadcast: async (options: Broadcast) => {
      asked.resolve(options);
      return { caughtUp: Promise.resolve(), close() {}, liveness: async () => null };
    },
  };
  const health = { startup: () => ({ done() {} }), live() {} };
  const feed = new LiveFeed({
    service: "gateway",
    instance: "test",
    runner: { defer() {} },
    health,
    eventLog,
  } as never);
  await feed.open(async () => {});
  const { from, onRecord } = await asked.promise;
  const topic = "signalbox.image.v1";
  if (typeof from === "function") from({ topic, partition: 0, first: 0n, end: 0n });

  const page = await takeFromPage(onRecord);
  const kept = feed.replay(new Map([[`${topic}/0`, 0n]]), [topic], new Promise(() => {}));
  await nextTurn();
  collectGarbage();
  assert.ok(page.deref() === undefined, "the page is free");
  for await (const { event } of kept) assert.equal(event.subject, "img_1");
});

/** Hands over a record that is a small part of a large buffer, as the clients of engines read them. */
async function takeFromPage(onRecord: Broadcast["onRecord"]): Promise<WeakRef<ArrayBufferLike>> {
  const event = draft("image.updated", {
    subject: "img_1",
    accountId: "acc_1",
    data: eventOf("image.updated").example as never,
  });
  const records: LogRecord[] = [];
  const publish = async (published: readonly LogRecord[]) => void records.push(...published);
  const tracer = { traceparent: () => undefined };
  await publishEvents({ clock: systemClock, tracer, eventLog: { publish }, service: "images" } as never, [event]);
  const [record] = records as [LogRecord];
  const page = Buffer.alloc(MiB);
  const length = page.write(String(record.value));
  const received: ReceivedRecord = {
    ...record,
    value: page.subarray(0, length),
    partition: 0,
    offset: 0n,
    timestampMs: 0,
  };
  await onRecord(received);
  return new WeakRef(page.buffer);
}
