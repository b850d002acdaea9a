/** A member that never finishes a batch, to be killed in the middle. Arguments: url, group, topic, session timeout. */
import { openLog } from "./log-under-test.ts";

const [url, group, topic, sessionTimeoutMs] = process.argv.slice(2) as [string, string, string, string];
const eventLog = await openLog(url, "stuck");
await eventLog.subscribe({
  group,
  topics: [topic],
  sessionTimeoutMs: Number(sessionTimeoutMs),
  async handle({ records, heartbeat }) {
    process.stdout.write(`handling ${records[0]?.value}\n`);
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      await heartbeat();
    }
  },
});
