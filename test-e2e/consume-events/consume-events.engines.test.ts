import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { catalogue, type EventDraft, eventOf, eventType } from "@signalbox/contracts";
import { randomId, systemClock } from "@signalbox/core";
import { type EventLog, type LogRecord, openEventLog, publishEvents } from "@signalbox/events";
import { eventually, testContext, testKafka } from "@signalbox/testing";
import { type RunningSample, samples, startSample } from "./sample-programs.ts";

const opened = new AsyncDisposableStack();
let eventLog: EventLog;
let kafka: Awaited<ReturnType<typeof testKafka>>;
const context = testContext("images", {});

before(async () => {
  kafka = await testKafka();
  opened.defer(() => context.close());
  eventLog = await openEventLog(kafka.url, { ...context, clientId: "publisher", baseUrl: "https://signalbox.example" });
  opened.defer(() => eventLog.close());
});
after(() => opened.disposeAsync());

/** Publishes an event of each of these types as the services do, on a test topic; returns the records. */
async function publish(topic: string, drafts: readonly EventDraft[]): Promise<LogRecord[]> {
  const sent: LogRecord[] = [];
  const onTopic = (records: readonly LogRecord[]) => records.map((record) => ({ ...record, topic }));
  const log = {
    ...eventLog,
    publish: async (records: readonly LogRecord[]) => {
      sent.push(...onTopic(records));
      await eventLog.publish(onTopic(records));
    },
  };
  await publishEvents({ eventLog: log, service: "images", clock: systemClock, tracer: context.tracer }, drafts);
  return sent;
}

const draftOf = (event: (typeof catalogue)[number]): EventDraft =>
  ({ name: event.name, subject: `subject of ${event.name}`, accountId: "acc_1", data: event.example }) as EventDraft;

/** Runs a sample until it has applied the event `last`, and stops it. Returns the events that it applied. */
async function runUntil(last: string | undefined, sample: RunningSample) {
  try {
    await eventually(
      () => {
        assert.ok(sample.isRunning, `it ended:\n${sample.output}`);
        assert.ok(sample.events.some(({ id }) => id === last));
      },
      { timeoutMs: 60_000 },
    ).catch((error: Error) => assert.fail(`${error.message}\n${sample.output.slice(-4_000)}`));
    await sample.stop();
    return sample.events;
  } finally {
    sample.kill();
  }
}

for (const [language, prepare] of Object.entries(samples)) {
  test(`${language}: every type of event is read, repetitions without a second effect`, async () => {
    const command = await prepare();
    const folder = await mkdtemp(join(tmpdir(), "signalbox-consume-"));
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const topic = kafka.topic(randomId("facts"));
    const [partitions, cleanup, maxMessageBytes] = [1, "delete", 4 * 1024 * 1024] as const;
    await eventLog.ensureTopics([{ name: topic, partitions, cleanup, retentionMs: 3_600_000, maxMessageBytes }]);

    const records = await publish(topic, catalogue.map(draftOf));
    // Repeats the page, like a relay that lost its acknowledgement; and adds a tombstone, which has no event.
    await eventLog.publish(records);
    await eventLog.publish([...records, { topic, key: "gone", headers: {}, value: null }]);
    const [last] = await publish(topic, [draftOf(eventOf("image.created"))]);

    const run = (group: string) =>
      startSample(command, [new URL(kafka.url).host, kafka.group(group), join(folder, "handled"), topic]);
    const applied = await runUntil(last?.headers.ce_id, run("first"));
    const told = [...records, last].map((record) => record?.headers.ce_id);
    assert.deepEqual(
      applied.map(({ id }) => id),
      told,
      "each once, and in the order of the topic",
    );
    for (const [index, event] of catalogue.entries()) {
      const { type, key, data } = applied[index] ?? assert.fail(eventType(event));
      assert.deepEqual([type, key, data], [eventType(event), `subject of ${event.name}`, event.example]);
    }

    // From the beginning of the topic, as after a restored backup: a new group, the same memory.
    const [next] = await publish(topic, [draftOf(eventOf("image.updated"))]);
    const again = await runUntil(next?.headers.ce_id, run("second"));
    assert.deepEqual(
      again.map(({ id }) => id),
      [next?.headers.ce_id],
    );
  });
}
