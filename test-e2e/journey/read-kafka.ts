import assert from "node:assert/strict";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { eventually } from "@signalbox/testing";
import kafkajs from "kafkajs";
import type { JourneyRecord } from "./journey.ts";

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
