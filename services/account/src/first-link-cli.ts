import process from "node:process";
import { environment, loadConfiguration } from "@signalbox/config";
import { systemClock } from "@signalbox/core";
import { knownPropertyNames } from "@signalbox/runtime";
import { createLogger, createTracer } from "@signalbox/telemetry";
import { createFirstLink } from "./first-link/create-first-link.ts";
import { properties } from "./properties.ts";

// Prints a link that signs the first administrator in. Reads the service's own configuration, and needs the migrated
// database of the service: start the service once.
const service = "account";
const configuration = loadConfiguration({
  service,
  properties,
  argv: process.argv.slice(2),
  environment: environment(),
  directory: process.cwd(),
  foreignNames: knownPropertyNames(),
});
const destination = { write: (line: string) => void process.stderr.write(line) };
const log = createLogger({ service, instance: "first-link", level: "warn", destination });
const link = await createFirstLink({ service, configuration, log, tracer: createTracer(service), clock: systemClock });
if (link === null) {
  process.stderr.write("Another issuer signs people in here (auth.issuers): its administrators need no first link.\n");
  process.exitCode = 1;
} else {
  process.stdout.write(`${link}\n`);
}
