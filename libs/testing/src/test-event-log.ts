import { topics } from "@signalbox/contracts";
import { type EventLog, openEventLog } from "@signalbox/events";
import type { TestContext } from "./test-context.ts";

/** Opens the event log that a URL names, with every topic, as a deployment leaves it. It closes with the context. */
export async function testEventLog(url: string, context: Omit<TestContext<never>, "configuration">): Promise<EventLog> {
  const eventLog = await openEventLog(url, { ...context, clientId: `${context.service}-tests` });
  await eventLog.ensureTopics(topics);
  return eventLog;
}
