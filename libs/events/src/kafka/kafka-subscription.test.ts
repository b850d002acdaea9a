import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { systemClock } from "@signalbox/core";
import type { Consumer, EachBatchPayload } from "kafkajs";
import { quietLog } from "../contract/log-under-test.ts";
import { GroupSession } from "./group-session.ts";
import { BatchHandler } from "./kafka-subscription.ts";

/** Creates a group member that has joined; the test answers its next heartbeats. */
function member() {
  const consumer = new EventEmitter();
  const log = quietLog;
  const parts = { group: "facts", sessionTimeoutMs: 3_000, onExpired: () => {}, log, clock: systemClock };
  const session = new GroupSession(consumer as unknown as Consumer, parts);
  const join = () => consumer.emit("consumer.group_join", { payload: { memberId: "m", memberAssignment: { t: [0] } } });
  join();
  const handled: string[] = [];
  const batches = new BatchHandler({
    group: "facts",
    session,
    closing: new AbortController().signal,
    log,
    clock: systemClock,
    handle: async ({ records }) => {
      handled.push(...records.map(({ offset }) => String(offset)));
      return undefined;
    },
  });
  const beats: Error[] = [];
  const batchAt = (offset: string) =>
    batches.eachBatch({
      batch: {
        topic: "t",
        partition: 0,
        highWatermark: "9",
        messages: [{ key: null, value: null, headers: {}, offset }],
      },
      isRunning: () => true,
      isStale: () => false,
      resolveOffset: () => {},
      commitOffsetsIfNecessary: async () => {},
      heartbeat: async () => {
        const answer = beats.shift();
        if (answer) throw answer;
      },
    } as unknown as EachBatchPayload);
  return { join, handled, beats, batchAt };
}

const answered = (type: string) => Object.assign(new Error("no"), { type });

test("a failed heartbeat alone ends nothing", async () => {
  const { handled, beats, batchAt } = member();
  beats.push(new Error("Broker not connected"));
  await batchAt("1");
  await batchAt("2");
  assert.deepEqual(handled, ["1", "2"]);
});

for (const type of ["REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION", "UNKNOWN_MEMBER_ID"]) {
  test(`after ${type} nothing is handled until the member has joined again, and every batch requests it`, async () => {
    const { join, handled, beats, batchAt } = member();
    beats.push(answered(type));
    await assert.rejects(batchAt("1"), { type });
    await assert.rejects(batchAt("2"), { type }, "kafkajs may have heeded another error than the first time");
    join();
    await batchAt("2");
    assert.deepEqual(handled, ["1", "2"]);
  });
}
