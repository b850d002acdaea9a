import assert from "node:assert/strict";
import test from "node:test";
import { serviceNames } from "@signalbox/core";
import { topicAccess } from "./topic-access.ts";
import { topics } from "./topics.ts";

const writersOf = (topic: string): string[] =>
  topicAccess.filter(({ writes }) => writes.includes(topic)).map(({ service }) => service);

test("only account writes access states", () => {
  assert.deepEqual(writersOf("signalbox.access.v1"), ["account"]);
});

test("every service has a row, and the owner of a topic writes it", () => {
  assert.deepEqual(topicAccess.map(({ service }) => service).toSorted(), serviceNames.toSorted());
  // The reports of all instances are on a topic that config reads: it owns their processing.
  const owned = topics.filter(({ name }) => name !== "signalbox.config-applied.v1");
  for (const { name, owner } of owned) assert.ok(writersOf(name).includes(owner), name);
});

test("facts are written by their owner alone: audit and reports come from many, and images drops its worker's letters", () => {
  const shared = topics.filter(({ name }) => writersOf(name).length > 1).map(({ name }) => name);
  const ofWorker = "signalbox.image-worker.dead-letters.v1";
  assert.deepEqual(shared, ["signalbox.audit.v1", "signalbox.config-applied.v1", ofWorker]);
});
