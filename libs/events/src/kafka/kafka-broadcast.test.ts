import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock, seconds } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import type { Admin, Kafka } from "kafkajs";
import { quietLog } from "../contract/log-under-test.ts";
import { openKafkaBroadcast } from "./kafka-broadcast.ts";

test("the age of a reader grows while Kafka is away, even as it retries", async (context) => {
  const clock = createManualClock();
  let tries = 0;
  const consumer = () => {
    tries++;
    return { on: () => {}, connect: () => Promise.reject(new Error("away")), disconnect: async () => {} };
  };
  const admin = async () => ({
    listTopics: async () => ["state"],
    fetchTopicOffsets: async () => [{ partition: 0, offset: "0", high: "0", low: "0" }],
    listGroups: async () => ({ groups: [] }),
    deleteGroups: async () => [],
  });
  const reader = openKafkaBroadcast(
    {
      createClient: () => ({ consumer }) as unknown as Kafka,
      admin: admin as unknown as () => Promise<Admin>,
      ping: () => Promise.reject(new Error("away")),
      log: quietLog,
      clock,
    },
    { service: "images", instance: "one", topics: ["state"], from: "start", onRecord: () => {} },
  );
  context.after(() => reader.close());
  await reader.caughtUp;
  const triesBefore = tries;
  clock.advance(seconds(60));
  await eventually(() => tries > triesBefore + 1);
  assert.equal(reader.ageMs(), seconds(60));
  assert.equal(reader.health(), "the reader has heard nothing for 60 s");
  assert.equal(await reader.liveness(), null);
});
