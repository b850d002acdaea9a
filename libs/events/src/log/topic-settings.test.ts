import assert from "node:assert/strict";
import { test } from "node:test";
import { loadConfiguration } from "@signalbox/runtime";
import { topicsProperties } from "./log-properties.ts";
import { topicSettings } from "./topic-settings.ts";

const common = { retentionMs: 1_000, maxMessageBytes: 2_000 };
const topics = [
  { name: "facts", partitions: 12, cleanup: "delete", ...common },
  { name: "state", partitions: 1, cleanup: "compact", ...common },
] as const;

function specsWith(...argv: string[]) {
  const properties = topicsProperties;
  const configuration = loadConfiguration({ service: "topics", properties, argv, environment: {}, directory: null });
  return topicSettings(configuration, { topics, access: [] }).specs;
}

test("a topic is created with the partitions of the property", () => {
  assert.equal(specsWith("--events.topics.partitions=facts=24")[0]?.partitions, 24);
});

test("a topic never has fewer partitions than declared", () => {
  assert.equal(specsWith("--events.topics.partitions=facts=3")[0]?.partitions, 12);
});

test("the retention of one topic is that of the property", () => {
  assert.deepEqual(
    specsWith("--events.topics.retention=facts=5000").map(({ retentionMs }) => retentionMs),
    [5_000, 1_000],
  );
});

for (const entry of ["unknown=1", "state=2", "facts", "facts=0", "facts=many"]) {
  test(`the retention ${entry} is refused with what would be right`, () => {
    assert.throws(() => specsWith(`--events.topics.retention=${entry}`), /expected <topic>=<number>, of facts/);
  });
}
