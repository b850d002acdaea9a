import { join, resolve } from "node:path";
import process from "node:process";
import { ConfigurationError, environment, loadConfiguration, startOptions } from "@signalbox/config";
import { systemClock } from "@signalbox/core";
import { createHealth, createRunner, runtimeProperties, runUntilStopped } from "@signalbox/runtime";
import { createLogger } from "@signalbox/telemetry";
import { processProperties } from "./process-properties.ts";
import { foreignNames } from "./service-configurations.ts";
import { startEmbedded } from "./start-embedded.ts";
import { welcome } from "./welcome.ts";

const startedMs = systemClock.steadyMs();
const argv = process.argv.slice(2);
const variables = environment();
const { profile, directory = process.cwd() } = startOptions(argv, variables);
const sources = { argv, environment: variables, directory, profile };

try {
  const configuration = loadConfiguration({
    service: "embedded",
    properties: { ...runtimeProperties, ...processProperties },
    ...sources,
    foreignNames: foreignNames(),
  });
  const log = createLogger({ service: "embedded", instance: "embedded", level: configuration.get("log.level") });
  const runner = createRunner({ log, clock: systemClock });
  const health = createHealth({ log });
  const dataDirectory = resolve(configuration.get("embedded.data-directory"));

  await runUntilStopped({
    runner,
    health,
    log,
    deadlineMs: configuration.get("shutdown.deadline"),
    graceMs: configuration.get("shutdown.grace"),
    start: async () => {
      const addresses = await startEmbedded({ configuration, sources, dataDirectory, log, runner, health });
      const apiKeyFile = join(dataDirectory, "first-key");
      process.stdout.write(welcome({ ...addresses, apiKeyFile, startMs: systemClock.steadyMs() - startedMs }));
    },
  });
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
