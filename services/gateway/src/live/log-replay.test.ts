import assert from "node:assert/strict";
import { test } from "node:test";
import { replayFromLog } from "./log-replay.ts";

type Broadcast = Parameters<typeof replayFromLog>[0]["eventLog"]["broadcast"];

const replay = (broadcast: Broadcast) =>
  replayFromLog({
    eventLog: { broadcast },
    service: "gateway",
    instance: "test",
    topics: ["signalbox.image.v1"],
    after: new Map(),
    until: new Map(),
    read: () => null,
  })[Symbol.asyncIterator]();

test("a replay with an unreadable log, from the start or later, may be retried", async () => {
  const away = new Error("Connection terminated due to connection timeout");
  const refusal = { code: "unavailable", cause: away };
  await assert.rejects(replay(() => Promise.reject(away)).next(), refusal);
  let closed = 0;
  const reader = { caughtUp: Promise.reject(away), close: async () => void closed++ };
  const breaks = (async () => reader) as unknown as Broadcast;
  await assert.rejects(replay(breaks).next(), refusal);
  assert.equal(closed, 1);
});
