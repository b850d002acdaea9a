import process from "node:process";
import { environment, loadConfiguration } from "@signalbox/config";
import { systemClock } from "@signalbox/core";
import { knownPropertyNames } from "@signalbox/runtime";
import { createLogger, createTracer } from "@signalbox/telemetry";
import { createFirstKey } from "./first-key.ts";
import { properties } from "./properties.ts";

// Prints an administrator's key for a deployment without an identity provider. Reads the service's own configuration,
// and needs the migrated database of the service: start the service once.
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
const log = createLogger({ service, instance: "first-key", level: "warn", destination });
const key = await createFirstKey({ service, configuration, log, tracer: createTracer(service), clock: systemClock });
process.stdout.write(`${key}\n`);
