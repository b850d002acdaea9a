/** A member of a group in a process of its own, to be killed. Arguments: url, group, topic, session timeout. */
import { openLog } from "./log-under-test.ts";

const [url, group, topic, sessionTimeoutMs] = process.argv.slice(2) as [string, string, string, string];
const eventLog = await openLog(url, "member");
const subscription = await eventLog.subscribe({
  group,
  topics: [topic],
  sessionTimeoutMs: Number(sessionTimeoutMs),
  async handle({ records }) {
    for (const { value } of records) process.stdout.write(`handled ${value}\n`);
    return undefined;
  },
});
setInterval(() => process.stdout.write(`owns ${subscription.assignments().length}\n`), 100);
