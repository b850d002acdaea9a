import { before, describe } from "node:test";
import { startEngine, testKafka } from "@signalbox/testing";
import { describeBroadcasting } from "../contract/broadcasting.ts";
import { describeGroups } from "../contract/groups.ts";
import { describeLagging } from "../contract/lagging.ts";
import type { LogUnderTest } from "../contract/log-under-test.ts";
import { describePublishing } from "../contract/publishing.ts";

describe("the event log on Kafka", () => {
  let underTest: LogUnderTest;
  before(async () => {
    underTest = { url: (await testKafka()).url, sessionTimeoutMs: 6_000, openBehindDoor };
  });
  describePublishing(() => underTest);
  describeGroups(() => underTest);
  describeBroadcasting(() => underTest);
  describeLagging(() => underTest);
});

/** A broker of its own: killed, and started again on its port and data. */
async function openBehindDoor() {
  const engine = await startEngine("kafka");
  return { url: engine.url, shut: engine.kill, reopen: engine.restart, close: engine.close };
}
