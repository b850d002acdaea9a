import { topics } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { openEventLog, type ReceivedRecord } from "@signalbox/events";
import { createLogger, createMetrics } from "@signalbox/runtime";

const log = createLogger({ service: "test-e2e", instance: "reader", level: "error" });
const metrics = createMetrics({ service: "test-e2e" });

/** Reads everything on the log, from its beginning to its present end. */
export async function readLog(eventsUrl: string): Promise<readonly ReceivedRecord[]> {
  const eventLog = await openEventLog(eventsUrl, { clientId: "test-e2e", log, metrics, clock: systemClock });
  const records: ReceivedRecord[] = [];
  const reader = await eventLog.broadcast({
    service: "test-e2e",
    instance: crypto.randomUUID(),
    topics: topics.map(({ name }) => name),
    from: "start",
    onRecord: (record) => void records.push(record),
  });
  await reader.caughtUp;
  await reader.close();
  await eventLog.close();
  return records;
}
