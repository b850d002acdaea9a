import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { randomId } from "@signalbox/core";
import { createTcpProxy, eventually, freePort, type OwnEngine, startEngine, type TcpProxy } from "@signalbox/testing";
import { openLog, record, topicSpec } from "../contract/log-under-test.ts";
import type { EventLog } from "../event-log.ts";

describe("an abandoned publish", () => {
  let proxy: TcpProxy;
  let kafka: OwnEngine;
  let eventLog: EventLog;
  before(async () => {
    const port = await freePort();
    proxy = await createTcpProxy({ port });
    kafka = await startEngine("kafka", { port, advertisedPort: proxy.port });
    eventLog = await openLog(proxy.urlFor(kafka.url));
  });
  after(async () => {
    await eventLog.close();
    await proxy.close();
    await kafka.close();
  });

  async function read(topic: string): Promise<string[]> {
    const values: string[] = [];
    const onRecord = ({ value }: { value: Buffer | null }) => void values.push(String(value));
    const from = { service: "images", instance: randomId("instance"), topics: [topic], from: "start" } as const;
    const reader = await eventLog.broadcast({ ...from, onRecord });
    await reader.caughtUp;
    await reader.close();
    return values;
  }

  test("does not arrive after later records", async () => {
    const topic = randomId("topic");
    await eventLog.ensureTopics([topicSpec(topic, { partitions: 1, cleanup: "compact" })]);
    await eventually(() => eventLog.publish([record(topic, "state", "0")]));
    const release = proxy.hold();
    await assert.rejects(eventLog.publish([record(topic, "state", "1")]), { reason: "unavailable" });
    await eventually(() => eventLog.publish([record(topic, "state", "2")]));
    release();
    await eventually(() => eventLog.publish([record(topic, "state", "3")]));
    const values = await read(topic);
    assert.ok(!values.includes("1"), values.join());
    assert.equal(values.at(-1), "3");
  });
});
