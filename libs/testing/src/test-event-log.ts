import { topics } from "@signalbox/contracts";
import { type EventLog, openEventLog } from "@signalbox/events";
import type { TestContext } from "./test-context.ts";

/** Opens the event log of a URL, with every topic, as in a deployment. It closes with the context. */
export async function testEventLog(url: string, context: Omit<TestContext<never>, "configuration">): Promise<EventLog> {
  const eventLog = await openEventLog(url, { ...context, clientId: `${context.service}-tests` });
  await eventLog.ensureTopics(topics);
  return eventLog;
}
