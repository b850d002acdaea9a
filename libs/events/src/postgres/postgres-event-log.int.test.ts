import { after, before, describe } from "node:test";
import { createTcpProxy, type TestDatabase, testDatabase } from "@signalbox/testing";
import { describeBroadcasting } from "../contract/broadcasting.ts";
import { describeGroups } from "../contract/groups.ts";
import { describeLagging } from "../contract/lagging.ts";
import type { LogUnderTest } from "../contract/log-under-test.ts";
import { describePublishing } from "../contract/publishing.ts";

describe("the event log on PostgreSQL", () => {
  let database: TestDatabase;
  let underTest: LogUnderTest;
  before(async () => {
    database = await testDatabase();
    underTest = { url: database.url, sessionTimeoutMs: 1_500, openBehindDoor };
  });
  after(() => database.close());
  describePublishing(() => underTest);
  describeGroups(() => underTest);
  describeBroadcasting(() => underTest);
  describeLagging(() => underTest);

  async function openBehindDoor() {
    const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
    return { url: proxy.urlFor(database.url), shut: proxy.refuse, reopen: proxy.accept, close: proxy.close };
  }
});
