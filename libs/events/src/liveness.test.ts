import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, minutes, seconds } from "@signalbox/core";
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

test("a log that is away needs no restart, and its return restarts the two minutes", async () => {
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
