/**
 * A program that consumes events and applies each of them once: `node consume.ts <brokers> <group> <database file> <topic>…`
 * It prints each event that it applies as a line of JSON, and leaves its group on SIGTERM. Where Kafka has TLS and
 * principals, KAFKA_CA is the file of its authority, and KAFKA_USERNAME and KAFKA_PASSWORD are a SCRAM-SHA-512 login.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import kafkajs, { type KafkaMessage } from "kafkajs";

const [brokers = "", group = "", file = "", ...topics] = process.argv.slice(2);

// Signalbox compresses with ZSTD, which kafkajs leaves to its user.
const unzip = promisify(zstdDecompress);
kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
  compress: () => Promise.reject(new Error("This program only reads.")),
  decompress: (bytes: Buffer) => unzip(bytes),
});

const database = new DatabaseSync(file);
database.exec("CREATE TABLE IF NOT EXISTS handled (event_id TEXT PRIMARY KEY)");
database.exec("CREATE TABLE IF NOT EXISTS tally (type TEXT PRIMARY KEY, events INTEGER NOT NULL)");
const remember = database.prepare("INSERT OR IGNORE INTO handled VALUES (?)");
const count = database.prepare(
  "INSERT INTO tally VALUES (?, 1) ON CONFLICT (type) DO UPDATE SET events = tally.events + 1",
);

function handle({ key, headers = {}, value }: KafkaMessage): void {
  // A tombstone of a state topic: a consumer that keeps records by key deletes this one.
  if (value === null) return;
  const header = (name: string) => headers[name]?.toString() ?? "";
  const event = { id: header("ce_id"), type: header("ce_type"), key: String(key), data: JSON.parse(String(value)) };
  // The effect and the memory of it are one transaction, so neither is ever there without the other.
  database.exec("BEGIN IMMEDIATE");
  try {
    const isNew = remember.run(event.id).changes === 1;
    if (isNew) count.run(event.type);
    database.exec("COMMIT");
    if (isNew) process.stdout.write(`${JSON.stringify(event)}\n`);
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

// biome-ignore lint/style/noProcessEnv: the sample stands alone, without our configuration.
const { KAFKA_CA: ca, KAFKA_USERNAME: username, KAFKA_PASSWORD: password = "" } = process.env;
const kafka = new kafkajs.Kafka({
  clientId: "my-team",
  brokers: brokers.split(","),
  logLevel: kafkajs.logLevel.ERROR,
  ...(ca && { ssl: { ca: [readFileSync(ca)] } }),
  ...(username && { sasl: { mechanism: "scram-sha-512" as const, username, password } }),
});
const consumer = kafka.consumer({ groupId: group });
await consumer.connect();
await consumer.subscribe({ topics, fromBeginning: true });
await consumer.run({ eachMessage: async ({ message }) => handle(message) });

process.once("SIGTERM", async () => {
  await consumer.disconnect();
  database.close();
});
