import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import "./living-brokers.ts";
import { systemClock } from "@signalbox/core";
import { eventually } from "@signalbox/testing";
import { noLeader } from "./leaderless-partitions.ts";
import { partitionsTaken } from "./partial-produce.ts";
import "./idle-timers.ts";
import { EventEmitter, once } from "node:events";
import "./one-connection.ts";
import { connect, createServer, type Socket } from "node:net";
import "./silent-connections.ts";
import { topicIdOf } from "./topic-ids.ts";

const BrokerPool = createRequire(import.meta.url)("kafkajs/src/cluster/brokerPool.js");

function pool(living: readonly string[]) {
  const asked: string[] = [];
  const brokers = Object.fromEntries(["1", "2", "3"].map((id) => [id, { isConnected: () => living.includes(id) }]));
  const findBroker = async ({ nodeId }: { nodeId: string }) => {
    asked.push(nodeId);
    if (nodeId !== "3") throw new Error(`broker ${nodeId} is dead`);
    return brokers[nodeId];
  };
  return { asked, made: Object.assign(Object.create(BrokerPool.prototype), { brokers, findBroker }) };
}

const nameOf = async ({ nodeId }: { nodeId: string }) => nodeId;

test("a living broker is asked before dead ones", async () => {
  const { asked, made } = pool(["3"]);
  assert.equal(await made.withBroker(nameOf), "3");
  assert.deepEqual(asked, ["3"]);
});

test("a broker that does not connect does not end the search", async () => {
  const { asked, made } = pool(["1"]);
  assert.equal(await made.withBroker(nameOf), "3");
  assert.equal(asked[0], "1");
});

test("the last failure is thrown when no broker answers", async () => {
  const refuse = () => Promise.reject(new Error("broker 3 is busy"));
  await assert.rejects(pool([]).made.withBroker(refuse), /broker \d is (dead|busy)/);
});

test("a client that knows no broker yet is told so in the way that makes it ask", async () => {
  const fresh = Object.assign(Object.create(BrokerPool.prototype), { brokers: {} });
  await assert.rejects(fresh.withBroker(nameOf), { name: "KafkaJSBrokerNotFound" });
});

const load = createRequire(import.meta.url);
const leaderNotAvailable = 5;
const unknownTopic = 3;

for (const version of [0, 1, 2, 3, 4, 5, 6]) {
  const { parse } = load(`kafkajs/src/protocol/requests/metadata/v${version}/response.js`);
  const answer = (topicErrorCode: number) => ({
    topicMetadata: [
      {
        topic: "signalbox.image.v1",
        topicErrorCode,
        partitionMetadata: [
          { partitionErrorCode: 0, partitionId: 0, leader: 1 },
          { partitionErrorCode: leaderNotAvailable, partitionId: 1, leader: noLeader },
        ],
      },
    ],
  });

  test(`metadata v${version}: a partition without a leader is an answer, a topic at fault is an error`, async () => {
    assert.deepEqual(await parse(answer(0)), answer(0));
    await assert.rejects(parse(answer(unknownTopic)), { type: "UNKNOWN_TOPIC_OR_PARTITION" });
  });
}

const { lookup } = load("kafkajs/src/protocol/requests/index.js");
const metadataOf = (maxVersion: number) =>
  lookup({ 3: { minVersion: 0, maxVersion } })(3, load("kafkajs/src/protocol/requests/metadata/index.js"));

test("brokers that know ids of topics are asked for them", async () => {
  const { request, response } = metadataOf(13)({ topics: ["t"] });
  const { buffer } = await request.encode();
  assert.equal(buffer.toString("hex"), ["00", "02", "00".repeat(16), "0274", "00", "01", "00", "00"].join(""));

  const id = "0123456789abcdef0123456789abcdef";
  const partition = ["0000", "00000000", "00000001", "00000007", "0200000001", "0200000001", "01", "00"];
  const topic = ["0000", "0274", id, "00", "02", ...partition, "80000000", "00"];
  const broker = ["00000001", "0261", "00002384", "00", "00"];
  const answer = ["00", "00000000", "02", ...broker, "0263", "00000001", "02", ...topic, "00"];
  const { topicMetadata, brokers, controllerId } = await response.decode(Buffer.from(answer.join(""), "hex"));
  assert.deepEqual([brokers, controllerId], [[{ nodeId: 1, host: "a", port: 9092, rack: null }], 1]);
  const [{ topic: name, partitionMetadata }] = topicMetadata;
  assert.equal(topicIdOf({ name, partitions: partitionMetadata }), id);
  assert.deepEqual([name, partitionMetadata[0].leader, partitionMetadata[0].isr], ["t", 1, [1]]);
});

test("brokers that know no ids are asked as before", () => {
  assert.equal(metadataOf(9)({ topics: ["t"] }).request.apiVersion, 6);
});

const notLeader = 6;

for (const version of [3, 4, 5, 6, 7]) {
  test(`produce v${version}: the error knows the partitions that took their records, also behind a retry`, async () => {
    const { parse } = load(`kafkajs/src/protocol/requests/produce/v${version}/response.js`);
    const partitions = [0, notLeader, 0].map((errorCode, partition) => ({ partition, errorCode }));
    const error = await parse({ topics: [{ topicName: "image", partitions }] }).catch((thrown: unknown) => thrown);
    assert.equal(error.type, "NOT_LEADER_FOR_PARTITION");
    const retried = new Error("gave up", { cause: error });
    for (const one of [error, retried]) assert.deepEqual([...partitionsTaken(one)], ["image/0", "image/2"]);
    assert.deepEqual([...partitionsTaken(new Error("no answer"))], []);
  });
}

const RequestQueue = createRequire(import.meta.url)("kafkajs/src/network/requestQueue/index.js");

function queue(pending: readonly string[], throttledMs: number) {
  let checks = 0;
  const throttledUntil = systemClock.nowMs() + throttledMs;
  const state = { pending, throttledUntil, checkPendingRequests: () => checks++ };
  const made = Object.assign(Object.create(RequestQueue.prototype), state);
  made.scheduleCheckPendingRequests();
  return { made, checks: () => checks };
}

test("an idle connection has no timer", () => {
  assert.equal(queue([], -1).made.throttleCheckTimeoutId, undefined);
});

for (const [what, pending, throttledMs] of [
  ["a waiting request is checked", ["request"], -1],
  ["the queue is checked once a throttle has passed", [], 5],
] as const) {
  test(what, async () => {
    const { made, checks } = queue(pending, throttledMs);
    await eventually(() => checks() === 1);
    assert.equal(made.throttleCheckTimeoutId, null);
  });
}

const Connection = createRequire(import.meta.url)("kafkajs/src/network/connection.js");

test("requests share an attempt to connect until it fails", async () => {
  const sockets: { onError(error: Error): Promise<void> }[] = [];
  const connection = Object.assign(Object.create(Connection.prototype), {
    isConnected: () => false,
    logDebug: () => {},
    logError: () => {},
    rejectRequests: () => {},
    disconnect: async () => {},
    connectionTimeout: 60_000,
    socketFactory: () => {
      const socket = Object.assign(new EventEmitter(), { setKeepAlive: () => {} });
      sockets.push({ onError: async (error) => void socket.emit("error", error) });
      return socket;
    },
  });
  const attempts = [connection.connect(), connection.connect()];
  assert.equal(sockets.length, 1);
  void sockets[0]?.onError(new Error("refused"));
  for (const attempt of attempts) await assert.rejects(attempt, /refused/);
  const next = connection.connect();
  assert.equal(sockets.length, 2);
  void sockets[1]?.onError(new Error("refused again"));
  await assert.rejects(next, /refused again/);
});

const apiVersions = load("kafkajs/src/protocol/requests/apiVersions/index.js");

test("the first request that times out breaks its connection off", async (context) => {
  const server = createServer().listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const accepted = once(server, "connection");
  const silent = () => {};
  const connection = new Connection({
    host: "127.0.0.1",
    port,
    logger: { namespace: () => ({ debug: silent, error: silent, warn: silent }) },
    socketFactory: ({ onConnect }: { onConnect: () => void }) => connect({ host: "127.0.0.1", port }, onConnect),
    requestTimeout: 50,
    connectionTimeout: 10_000,
  });
  await connection.connect();
  const [socket] = (await accepted) as [Socket];
  context.after(() => [socket, connection.socket].forEach((one) => void one.destroy()));
  const reset = assert.rejects(once(socket.resume(), "close"), { code: "ECONNRESET" });
  await assert.rejects(connection.send(apiVersions.protocol({ version: 0 })()), { name: "KafkaJSRequestTimeoutError" });
  assert.ok(connection.socket.destroyed);
  await reset;
  assert.equal(connection.isConnected(), false);
});
