import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { catalogue, type EventDraft, eventType, schemaRegistry } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { openEventLog, publishEvents } from "@signalbox/events";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { fetchPythonEnvironment, pythonOf } from "@signalbox/infra/engines/test/python-programs.ts";
import { testContext, testKafka } from "@signalbox/testing";
import { startEmbeddedIn } from "../systems/embedded-system.ts";

const run = promisify(execFile);
const here = import.meta.dirname;

/** Runs the sample with the packages of its list, in a folder named after the list: another list is another folder. */
async function decode(args: readonly string[]): Promise<string[]> {
  const requirements = join(here, "decode-requirements.txt");
  const digest = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex");
  const folder = join(enginesFolder, `schema-registry-python-${digest.slice(0, 12)}`);
  await fetchPythonEnvironment(folder, requirements);
  const { stdout } = await run(pythonOf(folder), ["-I", join(here, "decode.py"), ...args], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.trim().split("\n");
}

test("Confluent's deserializer decodes and checks every type of event by the schemas of the gateway", async () => {
  const kafka = await testKafka();
  const context = testContext("images", {});
  await using stack = new AsyncDisposableStack();
  const { baseUrl } = await startEmbeddedIn(stack);
  stack.defer(() => context.close());
  const eventLog = await openEventLog(kafka.url, { ...context, clientId: "publisher", baseUrl });
  stack.defer(() => eventLog.close());
  const topic = kafka.topic(randomId("facts"));
  const [partitions, cleanup, maxMessageBytes] = [1, "delete", 4 * 1024 * 1024] as const;
  await eventLog.ensureTopics([{ name: topic, partitions, cleanup, retentionMs: 3_600_000, maxMessageBytes }]);

  const drafts = catalogue.map(
    ({ name, example }) => ({ name, subject: `of ${name}`, accountId: "acc_1", data: example }) as EventDraft,
  );
  const onTopic: typeof eventLog.publish = (records) => eventLog.publish(records.map((one) => ({ ...one, topic })));
  await publishEvents({ ...context, eventLog: { ...eventLog, publish: onTopic } }, drafts);

  const lines = await decode([kafka.brokers.join(","), baseUrl, topic, String(catalogue.length)]);
  const [ids, ...records] = lines.toReversed().map((line) => JSON.parse(line));
  assert.deepEqual(
    records.toReversed(),
    catalogue.map((event) => ({
      type: eventType(event),
      schema: `${baseUrl}${schemaRegistry.pathOf(event)}`,
      data: event.example,
    })),
  );
  for (const { schema } of records) assert.equal((await fetch(schema)).status, 200, schema);
  assert.deepEqual(ids, Object.fromEntries(schemaRegistry.registered(baseUrl).map(({ subject, id }) => [subject, id])));
});
