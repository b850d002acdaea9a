import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { EventData } from "@signalbox/contracts";
import { randomId, uuidv7 } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { eventually, serviceWith, type TestContext, testContext } from "@signalbox/testing";
import { type AccessStates, accessTopic, openAccessStates } from "./access-states.ts";

type AccessChanged = EventData<"access.changed">;
/** Closed after the tests of the file, the last first. */
export const closes: (() => unknown)[] = [];
after(async () => {
  for (const close of closes.splice(0).reverse()) await close();
});

/** The state topic under a name of this run: the engines are shared with other tests. */
const topic = `test-${randomId("run")}.${accessTopic}`;
export const topicSpec = {
  name: topic,
  partitions: 1,
  cleanup: "compact",
  retentionMs: 86_400_000,
  maxMessageBytes: 4_194_304,
} as const;

/** The contract of the access states on an event log, for every adapter. */
export function accessStatesContract(adapter: string, urlOf: () => Promise<string>): void {
  suite(`access states on ${adapter}`, () => {
    let url: string;
    let log: EventLog;
    before(async () => {
      url = await urlOf();
      log = (await openLog(url)).log;
      await log.ensureTopics([topicSpec]);
    });

    test("a late reader has read every earlier change before it counts as started", async () => {
      const [account, key] = [randomId("acc"), randomId("key")];
      await publishChange(log, { kind: "account", id: account, account_id: account, state: "suspended", epoch: 1 });
      await publishChange(log, { kind: "key", id: key, account_id: account, state: "revoked", epoch: 1 });
      const { states, context } = await openReader(url);
      await states.caughtUp;
      assert.equal(states.isCaughtUp(), true);
      assert.equal((await context.health.report()).startup.status, "up");
      assert.deepEqual(states.stateOf(account), { state: "suspended", epoch: 1, notBeforeMs: null });
      assert.equal(states.isRevoked(key), true);
    });

    test("a change is seen by every reader within two seconds", async () => {
      const readers = await Promise.all([openReader(url), openReader(url)]);
      await Promise.all(readers.map(({ states }) => states.caughtUp));
      const account = randomId("acc");
      const heard: string[] = [];
      for (const { states } of readers) states.onChange(({ id }) => heard.push(id));
      await publishChange(log, { kind: "account", id: account, account_id: account, state: "disabled", epoch: 1 });
      await eventually(() => readers.every(({ states }) => states.stateOf(account)?.state === "disabled"), {
        timeoutMs: 2000,
      });
      assert.equal(heard.filter((id) => id === account).length, 2);
    });

    test("an unreadable record is reported without stopping the reader", async () => {
      const { states, context } = await openReader(url);
      await states.caughtUp;
      const account = randomId("acc");
      await log.publish([
        { topic, key: "account:forgotten", headers: {}, value: null },
        { topic, key: "account:broken", headers: {}, value: Buffer.from("{") },
      ]);
      await publishChange(log, { kind: "account", id: account, account_id: account, state: "suspended", epoch: 1 });
      await eventually(() => states.stateOf(account)?.state === "suspended");
      const reported = context.logged.filter(({ level }) => level === "error").map(({ key }) => key);
      assert.deepEqual(reported, ["account:broken"], "a tombstone is no error");
    });
  });
}

export async function openLog(url: string): Promise<{ log: EventLog; context: TestContext<Record<never, never>> }> {
  const context = testContext("gateway", {});
  closes.push(context.close);
  return { log: await openEventLog(url, { ...context, clientId: "auth-tests" }), context };
}

/** Opens a reader of its own, like each service. */
export async function openReader(
  url: string,
): Promise<{ states: AccessStates; context: TestContext<Record<never, never>> }> {
  const { log, context } = await openLog(url);
  const eventLog = serviceWith<EventLog>({
    broadcast: (options) => log.broadcast({ ...options, topics: [topic] }),
  });
  return { states: await openAccessStates({ ...context, eventLog }), context };
}

export function publishChange(log: EventLog, change: Omit<AccessChanged, "changed_at">): Promise<void> {
  const subject = `${change.kind}:${change.id}`;
  const headers = {
    ce_specversion: "1.0",
    ce_id: uuidv7(),
    ce_source: "/signalbox/account",
    ce_type: "access.changed.v1",
    ce_time: "2026-01-01T00:00:00.000Z",
    ce_subject: subject,
    "content-type": "application/json",
  };
  const value = Buffer.from(JSON.stringify({ ...change, changed_at: headers.ce_time }));
  return log.publish([{ topic, key: subject, headers, value }]);
}
