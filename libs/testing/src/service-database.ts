import { fileURLToPath } from "node:url";
import type { ServiceName } from "@signalbox/core";
import { libraryMigrations } from "@signalbox/service";
import { migrate } from "@signalbox/storage";
import { testContext } from "./test-context.ts";
import { type TestDatabase, testDatabase } from "./test-database.ts";
import { testEventLog } from "./test-event-log.ts";

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
