/**
 * A relay that kills itself between publish and commit. Arguments: database url, log url, topic, share of publishes after
 * which it dies. Everything goes to the one topic of the test.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { openLog, parts } from "../contract/log-under-test.ts";
import { openTestPool } from "../contract/test-service.ts";
import type { EventLog } from "../event-log.ts";
import { createOutbox } from "../outbox/outbox.ts";

const [databaseUrl, logUrl, topic, crashShare] = process.argv.slice(2) as [string, string, string, string];
const realLog = await openLog(logUrl, "relay");
const eventLog: EventLog = {
  ...realLog,
  async publish(records) {
    await sleep(Math.random() * 50); // time for another relay to overtake, if one could
    await realLog.publish(records.map((record) => ({ ...record, topic })));
    if (Math.random() < Number(crashShare)) process.kill(process.pid, "SIGKILL");
  },
};
const outbox = createOutbox({
  pool: openTestPool(databaseUrl),
  service: "images",
  maxBytes: 2_097_152,
  idlePollMs: 20,
  ...parts(),
});
await outbox.runRelay(eventLog, new AbortController().signal, () => {});
