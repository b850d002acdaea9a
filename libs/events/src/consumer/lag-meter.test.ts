import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import type { PartitionLag } from "../event-log.ts";
import { LagMeter } from "./lag-meter.ts";

const behind = (topic: string, partition: number, messages: number, age: number): PartitionLag => {
  return { topic, partition, messages, seconds: age, committed: 0n, end: BigInt(messages) };
};

function setUp(topics: readonly string[]) {
  const clock = createManualClock();
  const log = { lags: null as PartitionLag[] | null, asked: 0 };
  const lag = async () => {
    log.asked++;
    if (log.lags === null) throw new Error("the log is away");
    return log.lags;
  };
  return { clock, log, meter: new LagMeter({ eventLog: { lag }, group: "images.facts", topics, clock }) };
}

test("the lag of a topic is the sum of its messages and the age of the oldest", async () => {
  const { log, meter } = setUp(["a", "b"]);
  log.lags = [behind("a", 0, 2, 7), behind("a", 1, 3, 4), behind("b", 0, 0, 0)];
  assert.deepEqual(await meter.read(), [
    { topic: "a", messages: 5, seconds: 7 },
    { topic: "b", messages: 0, seconds: 0 },
  ]);
});

test("while the log is away, records that may have arrived since count as unhandled", async () => {
  const { clock, log, meter } = setUp(["a", "b"]);
  clock.advance(seconds(20));
  assert.deepEqual(
    (await meter.read()).map((lag) => lag.seconds),
    [20, 20],
    "from the start on, when it was never asked",
  );
  log.lags = [behind("a", 0, 2, 7), behind("b", 0, 0, 0)];
  await meter.read();
  log.lags = null;
  clock.advance(seconds(30));
  assert.deepEqual(await meter.read(), [
    { topic: "a", messages: 2, seconds: 37 },
    { topic: "b", messages: 0, seconds: 30 },
  ]);
});

test("gauges that are scraped together ask the log once", async () => {
  const { log, meter } = setUp(["a"]);
  log.lags = [];
  await Promise.all([meter.read(), meter.read()]);
  assert.equal(log.asked, 1);
});
