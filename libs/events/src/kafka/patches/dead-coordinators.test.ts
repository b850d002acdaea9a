import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { eventually } from "@signalbox/testing";
import "./dead-coordinators.ts";

const ConsumerGroup = createRequire(import.meta.url)("kafkajs/src/consumer/consumerGroup.js");
const answered = (type: string) => Object.assign(new Error("no"), { type });

function member(failure: Error) {
  const found = { heartbeat: async () => {} };
  const made = new ConsumerGroup({
    logger: { namespace: () => ({}) },
    groupId: "g",
    topics: [],
    cluster: { findGroupCoordinator: async () => found },
    retry: {},
    instrumentationEmitter: { emit: () => {} },
  });
  const offsetManager = { coordinator: null };
  Object.assign(made, { memberId: "m", coordinator: { heartbeat: () => Promise.reject(failure) }, offsetManager });
  return { made, found, offsetManager };
}

test("a member whose coordinator is away goes on, and finds the next one", async () => {
  const { made, found, offsetManager } = member(answered("NOT_COORDINATOR_FOR_GROUP"));
  await made.heartbeat({ interval: 0 });
  await eventually(() => made.coordinator === found && offsetManager.coordinator === found);
});

test("a rebalance still ends the generation", async () => {
  const { made } = member(answered("REBALANCE_IN_PROGRESS"));
  await assert.rejects(made.heartbeat({ interval: 0 }), { type: "REBALANCE_IN_PROGRESS" });
});
