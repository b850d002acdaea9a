import assert from "node:assert/strict";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { systemClock } from "@signalbox/core";
import { decodeEvent, eventNameOf, openEventLog, type ReceivedRecord } from "@signalbox/events";
import { createLogger, createMetrics } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import kafkajs from "kafkajs";
import type { JourneyRecord } from "./journey.ts";

/** The topics of the journey's events, as an internal team would read them. */
const topics = [
  "signalbox.account.v1",
  "signalbox.access.v1",
  "signalbox.image.v1",
  "signalbox.webhook-source.v1",
  "signalbox.webhook-received.v1",
  "signalbox.webhook-delivery.v1",
];

/**
 * Reads all events through the public event log port and checks that the journey's are there, complete and in order.
 */
export async function assertEvents(eventsUrl: string, { accountId, imageId }: JourneyRecord): Promise<void> {
  const log = createLogger({ service: "test-e2e", instance: "reader", level: "error" });
  const metrics = createMetrics({ service: "test-e2e" });
  const eventLog = await openEventLog(eventsUrl, { clientId: "test-e2e", log, metrics, clock: systemClock });
  const records: ReceivedRecord[] = [];
  const reader = await eventLog.broadcast({
    service: "test-e2e",
    instance: "journey",
    topics,
    from: "start",
    onRecord: (record) => void records.push(record),
  });
  try {
    await eventually(() => {
      const names = records.map(({ headers }) => eventNameOf(headers));
      for (const name of ["account.created", "account.updated", "image.created", "image.rendition_ready"] as const) {
        assert.ok(names.includes(name), `${name} is on its topic`);
      }
      assert.ok(names.includes("webhook_endpoint.created") && names.includes("webhook_source.created"));
      assert.equal(names.filter((name) => name === "webhook.received").length, 1, "one webhook, one event");
    });
    const ofImage = records.filter(({ topic, key }) => topic === "signalbox.image.v1" && key === imageId);
    assert.deepEqual(
      ofImage.map(({ headers }) => eventNameOf(headers)),
      ["image.created", "image.rendition_ready"],
      "the events of one image come in the order of its changes",
    );
    const updated = records.find(({ headers }) => eventNameOf(headers) === "account.updated") as ReceivedRecord;
    const event = decodeEvent("account.updated", updated);
    assert.equal(event.accountId, accountId);
    assert.deepEqual(event.data.changed, ["display_name"]);
  } finally {
    await reader.close();
    await eventLog.close();
  }
}

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;

/**
 * A reader without shared code: it checks headers, key and JSON against the published contract, not against our own
 * decoder's leniency.
 */
export async function assertPlainKafka(eventsUrl: string, { imageId, accountId }: JourneyRecord): Promise<void> {
  const unzip = promisify(zstdDecompress);
  CompressionCodecs[CompressionTypes.ZSTD] = () => ({
    compress: () => Promise.reject(new Error("this reader writes nothing")),
    decompress: (bytes: Buffer) => unzip(bytes),
  });
  const brokers = [new URL(eventsUrl).host];
  const kafka = new Kafka({ clientId: "plain-reader", brokers, logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `plain-reader-${process.pid}` });
  const found: { key: string; headers: Record<string, string>; json: { id: string } }[] = [];
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: ["signalbox.image.v1"], fromBeginning: true });
    await consumer.run({
      eachMessage: async ({ message }) => {
        const headers = Object.fromEntries(
          Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]),
        );
        found.push({ key: String(message.key), headers, json: JSON.parse(String(message.value)) });
      },
    });
    const message = await eventually(
      () => found.find(({ key, headers }) => key === imageId && headers.ce_type === "image.created.v1") ?? null,
      { message: "a plain reader finds the event" },
    );
    assert.equal(message.json.id, imageId);
    const { headers } = message;
    assert.equal(headers.ce_specversion, "1.0");
    assert.match(headers.ce_id ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(headers.ce_source, "/signalbox/images");
    assert.equal(headers.ce_subject, imageId);
    assert.equal(headers.ce_accountid, accountId);
    assert.equal(headers["content-type"], "application/json");
    assert.match(headers.ce_traceparent ?? "", /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    assert.ok(!Number.isNaN(Date.parse(headers.ce_time ?? "")));
  } finally {
    await consumer.disconnect();
  }
}
