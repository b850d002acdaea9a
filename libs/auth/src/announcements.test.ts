import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "@signalbox/core";
import { type AccessStates, createAccessTable } from "./access-states.ts";
import { followAnnouncements } from "./announcements.ts";

/** States whose reader is as the test says, and the question that is asked each second. */
function given() {
  const world = { isBehind: false, answer: async () => false };
  const isCaughtUp = () => true;
  const caughtUp = Promise.resolve();
  const reader: AccessStates = { ...createAccessTable(), caughtUp, isCaughtUp, isBehind: () => world.isBehind };
  let turn = async () => {};
  const states = followAnnouncements(reader, {
    principals: { hasUnannounced: () => world.answer() },
    runner: {
      every: (_name, _pause, work) => {
        turn = async () => void (await work(new AbortController().signal, () => {}));
      },
    },
  });
  return { world, states, ask: () => turn() };
}

test("states are behind while account says that the topic lacks a change, however well it is read", async () => {
  const { world, states, ask } = given();
  await ask();
  assert.equal(states.isBehind(), false);
  world.answer = async () => true;
  await ask();
  assert.equal(states.isBehind(), true);
  world.answer = async () => false;
  await ask();
  assert.equal(states.isBehind(), false);
});

test("states are behind while account cannot be asked", async () => {
  const { world, states, ask } = given();
  world.answer = () => Promise.reject(new AppError("unavailable", "away", { retryAfterSeconds: 1 }));
  await ask();
  assert.equal(states.isBehind(), true);
});

test("states are behind while the topic is not read, whatever account says", async () => {
  const { world, states, ask } = given();
  world.isBehind = true;
  await ask();
  assert.equal(states.isBehind(), true);
});
