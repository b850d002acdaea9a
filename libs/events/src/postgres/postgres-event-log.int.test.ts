import { after, before, describe } from "node:test";
import { sql } from "@signalbox/storage";
import { createTcpProxy, type TestDatabase, testDatabase } from "@signalbox/testing";
import { describeBroadcasting } from "../contract/broadcasting.ts";
import { describeExpiring } from "../contract/expiring.ts";
import { describeGroups, describeRewinding } from "../contract/groups.ts";
import { describeLagging } from "../contract/lagging.ts";
import type { LogUnderTest } from "../contract/log-under-test.ts";
import { describePublishing } from "../contract/publishing.ts";
import { openTestPool } from "../contract/test-service.ts";
import { cleanLog } from "./retention.ts";

describe("the event log on PostgreSQL", () => {
  let database: TestDatabase;
  let underTest: LogUnderTest;
  before(async () => {
    database = await testDatabase();
    underTest = { url: database.url, sessionTimeoutMs: 1_500, expire, openBehindDoor };
  });
  after(() => database.close());
  describePublishing(() => underTest);
  describeGroups(() => underTest);
  describeExpiring(() => underTest);
  describeRewinding(() => underTest);
  describeBroadcasting(() => underTest);
  describeLagging(() => underTest);

  async function expire(topic: string, before: bigint) {
    const pool = openTestPool(database.url);
    const age = `update signalbox.log_record set timestamp_ms = 0 from signalbox.log_partition
      where id = partition_id and topic = $1 and partition = 0 and "offset" < $2`;
    await pool.query(sql("", age), [topic, before]);
    await cleanLog(pool);
    await pool.close();
  }

  async function openBehindDoor() {
    const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
    return { url: proxy.urlFor(database.url), shut: proxy.refuse, reopen: proxy.accept, close: proxy.close };
  }
});
