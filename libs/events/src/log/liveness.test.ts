import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, minutes, seconds } from "@signalbox/core";
import { serviceWith } from "@signalbox/testing";
import { LagMeter } from "../consumer/lag-meter.ts";
import type { EventLog, PartitionLag } from "./event-log.ts";
import { createLiveness } from "./liveness.ts";

function setUp() {
  const clock = createManualClock();
  const state = { health: null as string | null, isAway: false };
  const ping = async () => {
    if (state.isAway) throw new Error("connection refused");
  };
  return { clock, state, liveness: createLiveness({ health: () => state.health, ping, clock }) };
}

test("a reader asks for a restart after two minutes of silence from a log that answers", async () => {
  const { clock, state, liveness } = setUp();
  assert.equal(await liveness(), null);
  state.health = "the reader has heard nothing for 30 s";
  assert.equal(await liveness(), null, "it may find its group again");
  clock.advance(minutes(2));
  assert.equal(await liveness(), "the reader has heard nothing for 30 s, although the log answers");
  state.health = null;
  assert.equal(await liveness(), null);
});

test("a log that is away needs no restart until two minutes after its return", async () => {
  const { clock, state, liveness } = setUp();
  state.health = "the reader has heard nothing for 30 s";
  state.isAway = true;
  for (const _ of [1, 2, 3]) {
    assert.equal(await liveness(), null);
    clock.advance(minutes(5));
  }
  state.isAway = false;
  assert.equal(await liveness(), null);
  clock.advance(seconds(119));
  assert.equal(await liveness(), null);
  clock.advance(seconds(1));
  assert.notEqual(await liveness(), null);
});

test("a log that accepts connections without answering counts as away", async () => {
  const clock = createManualClock();
  const liveness = createLiveness({ health: () => "silent", ping: () => new Promise(() => {}), clock, pingMsMax: 5 });
  assert.equal(await liveness(), null);
  clock.advance(minutes(5));
  assert.equal(await liveness(), null);
});

const behind = (topic: string, partition: number, messages: number, age: number): PartitionLag => {
  return { topic, partition, messages, seconds: age, committed: 0n, end: BigInt(messages) };
};

function setUpMeter(topics: readonly string[]) {
  const clock = createManualClock();
  const log = { lags: null as PartitionLag[] | null, asked: 0 };
  const lag = async () => {
    log.asked++;
    if (log.lags === null) throw new Error("the log is away");
    return log.lags;
  };
  return {
    clock,
    log,
    meter: new LagMeter({ eventLog: serviceWith<EventLog>({ lag }), group: "images.facts", topics, clock }),
  };
}

test("the lag of a topic sums its messages; its age is that of the oldest", async () => {
  const { log, meter } = setUpMeter(["a", "b"]);
  log.lags = [behind("a", 0, 2, 7), behind("a", 1, 3, 4), behind("b", 0, 0, 0)];
  assert.deepEqual(await meter.read(), [
    { topic: "a", messages: 5, seconds: 7 },
    { topic: "b", messages: 0, seconds: 0 },
  ]);
});

test("while the log is away, records that may have arrived since count as unhandled", async () => {
  const { clock, log, meter } = setUpMeter(["a", "b"]);
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
  const { log, meter } = setUpMeter(["a"]);
  log.lags = [];
  await Promise.all([meter.read(), meter.read()]);
  assert.equal(log.asked, 1);
});
