import { join } from "node:path";
import process from "node:process";
import { createLogger } from "@signalbox/runtime";
import { libraryMigrations } from "@signalbox/service";
import { migrate } from "@signalbox/storage";
import { databaseProperties } from "@signalbox/storage/properties";
import { embeddedServices } from "../embedded/embedded-services.ts";
import { commandConfiguration } from "../kafka/engine-url.ts";

/**
 * Migrates the databases of the services to this version and ends: `migrate` does all of them, `migrate account` one.
 * Each is named as the service names it, by `<service>.database.url`, here with the role that may change tables.
 */
const argv = process.argv.slice(2);
const named = argv.filter((argument) => !argument.startsWith("--"));
const services = embeddedServices.filter(({ properties }) => "database.url" in properties).map(({ name }) => name);

/** Standard output contains only the results. */
const destination = { write: (line: string) => void process.stderr.write(line) };

try {
  const unknown = named.find((name) => !services.some((service) => service === name));
  if (unknown)
    throw new Error(`${unknown} has no database: name one of ${services.join(", ")}, or none for all of them`);
  for (const service of named.length > 0 ? services.filter((name) => named.includes(name)) : services) {
    const configuration = commandConfiguration(argv, databaseProperties, service);
    await migrate({
      url: configuration.get("database.url"),
      service,
      prismaDirectory: join(import.meta.dirname, "../../services", service, "prisma"),
      libraryMigrations,
      log: createLogger({ service, instance: "migrate", level: "info", destination }),
      waitMs: configuration.get("database.start-wait"),
    });
    process.stdout.write(`${service} is at this version\n`);
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
