import { fileURLToPath } from "node:url";
import { topics } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { type EventLog, openEventLog } from "@signalbox/events";
import { libraryMigrations } from "@signalbox/service";
import { migrate } from "@signalbox/storage";
import { type TestContext, testContext } from "./test-context.ts";
import { type TestDatabase, testDatabase } from "./test-database.ts";

const fromRoot = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Creates a database with every table of the service, as a start of the service leaves it. */
export async function serviceDatabase(service: ServiceName): Promise<TestDatabase> {
  const prismaDirectory = fromRoot(`services/${service}/prisma`);
  return await testDatabase({
    name: service,
    folders: [`${prismaDirectory}/migrations`, ...libraryMigrations.map(({ directory }) => directory)],
    async prepare(url) {
      const context = testContext(service, {});
      await migrate({ url, service, prismaDirectory, libraryMigrations, log: context.log });
      await context.close();
    },
  });
}

/** Creates the database of an event log, with every topic of the catalogue. */
export async function eventLogDatabase(): Promise<TestDatabase> {
  return await testDatabase({
    name: "event-log",
    folders: [fromRoot("libs/events/log-migrations"), fromRoot("libs/contracts/src")],
    async prepare(url) {
      const context = testContext("account", {});
      await testEventLog(url, context);
      await context.close();
    },
  });
}

/** Opens the event log of a URL, with every topic, as in a deployment. It closes with the context. */
export async function testEventLog(url: string, context: Omit<TestContext<never>, "configuration">): Promise<EventLog> {
  const eventLog = await openEventLog(url, { ...context, clientId: `${context.service}-tests` });
  await eventLog.ensureTopics(topics);
  return eventLog;
}
