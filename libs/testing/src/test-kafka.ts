import { randomBytes } from "node:crypto";
import { endpointOf } from "./test-engines.ts";

export interface TestKafka {
  /** Value of `events.url`: `kafka://host:port`. */
  readonly url: string;
  readonly brokers: readonly string[];
  /** A topic name that no other test uses. */
  topic(name: string): string;
  /** A consumer group that no other test uses. */
  group(name: string): string;
}

/** Attaches to the shared Apache Kafka. Topics must be created: the broker refuses unknown ones. */
export async function testKafka(): Promise<TestKafka> {
  const { url } = await endpointOf("kafka");
  const id = randomBytes(6).toString("hex");
  return {
    url,
    brokers: url.replace(/^kafka:\/\//, "").split(","),
    topic: (name) => `test-${id}.${name}`,
    group: (name) => `test-${id}.${name}`,
  };
}
