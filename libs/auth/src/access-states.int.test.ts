import assert from "node:assert/strict";
import { test } from "node:test";
import { randomId } from "@signalbox/core";
import type { EventLog } from "@signalbox/events";
import { createTcpProxy, eventually, type TcpProxy, testDatabase } from "@signalbox/testing";
import {
  accessStatesContract,
  closes,
  openLog,
  openReader,
  publishChange,
  topicSpec,
} from "./access-states.contract.ts";

accessStatesContract("PostgreSQL", postgresUrl);

test("while the log is away, the last states stay and count as outdated", async () => {
  const url = await postgresUrl();
  const proxy = await createTcpProxy({ port: Number(new URL(url).port) });
  closes.push(proxy.close);
  const { log } = await openLog(url);
  await log.ensureTopics([topicSpec]);
  await holdsThroughAnOutage(log, proxy, url);
});

async function holdsThroughAnOutage(log: EventLog, proxy: TcpProxy, url: string): Promise<void> {
  const account = randomId("acc");
  await publishChange(log, { kind: "account", id: account, account_id: account, state: "suspended", epoch: 1 });
  const { states, context } = await openReader(proxy.urlFor(url));
  await states.caughtUp;
  await eventually(() => !states.isBehind());
  await proxy.refuse();
  await eventually(() => states.isBehind());
  assert.equal(states.stateOf(account)?.state, "suspended");
  assert.equal(states.isCaughtUp(), true, "a later outage refuses no one");
  assert.equal((await context.health.report()).live.status, "up");
  await publishChange(log, { kind: "account", id: account, account_id: account, state: "active", epoch: 2 });
  await proxy.accept();
  await eventually(() => states.stateOf(account)?.state === "active");
  await eventually(() => !states.isBehind());
}

async function postgresUrl(): Promise<string> {
  const database = await testDatabase();
  closes.push(database.close);
  return database.url;
}
