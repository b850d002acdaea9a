import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { createManualClock, seconds, systemClock } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import type { Admin, Consumer, EachBatchPayload, Kafka } from "kafkajs";
import { parts as contextParts, quietLog } from "../../test/log-contract/log-under-test.ts";
import { ReplacedTopics } from "../log/replaced-topics.ts";
import { GroupSession } from "./group-session.ts";
import { openKafkaBroadcast } from "./kafka-broadcast.ts";
import { BatchHandler } from "./kafka-subscription.ts";
import { describeRisks } from "./kafka-topics.ts";
import { parseKafkaUrl } from "./kafka-url.ts";

test("a list of brokers needs nothing else", () => {
  assert.deepEqual(parseKafkaUrl("kafka://a:9092,b:9092"), { brokers: ["a:9092", "b:9092"], security: {} });
  assert.deepEqual(parseKafkaUrl("kafka://a:9092/").brokers, ["a:9092"]);
});

test("a user name and its password may contain any character", () => {
  const { security } = parseKafkaUrl("kafka://ada:p%40ss%3Aw%2F@a:9092?tls=true&sasl=scram-sha-512");
  assert.deepEqual(security, { ssl: {}, sasl: { mechanism: "scram-sha-512", username: "ada", password: "p@ss:w/" } });
});

for (const [url, said] of [
  ["kafka://a:9092?tsl=true", /unknown option tsl/],
  ["kafka://a:b@a:9092", /credentials but no sasl= mechanism/],
  ["kafka://a:b@a:9092?sasl=plain", /would send a password in cleartext: add tls=true/],
  ["kafka://a:9092?tls=true&sasl=plain", /needs user:password@/],
  ["kafka://a:b@a:9092?tls=true&sasl=gssapi", /known ones are plain, scram-sha-256, scram-sha-512 and oauthbearer/],
  ["kafka://a:b@a:9092?tls=true&sasl=oauthbearer", /needs token-url/],
  ["kafka://a:9092?ca=%2Fca.pem", /names ca without tls=true/],
  ["kafka://", /must have the form kafka:\/\/host:port/],
] as const) {
  test(`${url.replace(/\/\/.*@/, "//…@")} is refused with its fault`, () => {
    assert.throws(() => parseKafkaUrl(url), said);
  });
}

const safe = { name: "safe", copies: 3, minInSync: 2 };

test("topics that a single broken broker can lose are named, once for each reason", () => {
  assert.deepEqual(describeRisks([safe]), []);
  assert.deepEqual(
    describeRisks([
      safe,
      { name: "few", copies: 2, minInSync: 2 },
      { name: "loose", copies: 3, minInSync: 1 },
      { name: "alone", copies: 1, minInSync: 1 },
    ]),
    [
      "Kafka has a replication factor below 3 for: few, alone",
      "Kafka has min.insync.replicas below 2 for: loose, alone",
    ],
  );
});

test("the age of a reader grows while Kafka is away, even as it retries", async (context) => {
  const clock = createManualClock();
  let tries = 0;
  const consumer = () => {
    tries++;
    return { on: () => {}, connect: () => Promise.reject(new Error("away")), disconnect: async () => {} };
  };
  const admin = async () => ({
    listTopics: async () => ["state"],
    fetchTopicMetadata: async () => ({ topics: [] }),
    fetchTopicOffsets: async () => [{ partition: 0, offset: "0", high: "0", low: "0" }],
    fetchTopicOffsetsByTimestamp: async () => [{ partition: 0, offset: "0" }],
    listGroups: async () => ({ groups: [] }),
    deleteGroups: async () => [],
  });
  const reader = openKafkaBroadcast(
    {
      createClient: () => ({ consumer }) as unknown as Kafka,
      admin: admin as unknown as () => Promise<Admin>,
      ping: () => Promise.reject(new Error("away")),
      log: quietLog,
      replacedTopics: new ReplacedTopics(contextParts()),
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

/** Creates a group member that has joined; the test answers its next heartbeats. */
function member() {
  const consumer = new EventEmitter();
  const log = quietLog;
  const admin = () => Promise.reject(new Error("away"));
  const parts = { group: "facts", sessionTimeoutMs: 3_000, onExpired: () => {}, admin, log, clock: systemClock };
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
  test(`after ${type} no batch is handled until the member has joined again`, async () => {
    const { join, handled, beats, batchAt } = member();
    beats.push(answered(type));
    await assert.rejects(batchAt("1"), { type });
    await assert.rejects(batchAt("2"), { type }, "kafkajs may have heeded another error than the first time");
    join();
    await batchAt("2");
    assert.deepEqual(handled, ["1", "2"]);
  });
}
