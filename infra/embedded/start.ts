import { join, resolve } from "node:path";
import process from "node:process";
import { systemClock } from "@signalbox/core";
import {
  ConfigurationError,
  createHealth,
  createLogger,
  createRunner,
  environment,
  loadConfiguration,
  runtimeProperties,
  runUntilStopped,
  startHelp,
  startOptions,
} from "@signalbox/runtime";
import { foreignNames } from "./embedded-services.ts";
import { linkOption, offerFirstLinks } from "./first-link.ts";
import { processProperties } from "./process-properties.ts";
import { startEmbedded } from "./start-embedded.ts";
import { createProgress } from "./starting-page.ts";
import { welcome } from "./welcome.ts";
import { whyRefused } from "./why-refused.ts";

const startedMs = systemClock.steadyMs();
const given = process.argv.slice(2);
const argv = given.filter((argument) => argument !== linkOption);
const variables = environment();
const { profile, directory = process.cwd() } = startOptions(argv, variables);
const sources = { argv, environment: variables, directory, profile };

const help = startHelp("all", argv);
if (help !== null) {
  process.stdout.write(help);
  process.exit(0);
}

/** Progress goes to standard error: the first line of standard output is the base URL. */
const progress = createProgress((line) => process.stderr.write(`${line}\n`));

/** The last line a person sees is the sentence that helps; the log has the whole error where that sentence is not enough. */
function tellFailure(error: unknown): boolean {
  progress.stop();
  const refusal = whyRefused(error);
  const why = refusal ?? (error instanceof Error ? error.message : String(error));
  process.once("exit", () => process.stderr.write(`\nSignalbox did not start: ${why}\n`));
  return refusal !== null;
}

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
    tellFailure,
    tell: (line) => process.stderr.write(`${line}\n`),
    start: async () => {
      const parts = { configuration, sources, dataDirectory, log, runner, health, tell: progress.tell };
      const addresses = await startEmbedded(parts);
      progress.stop();
      const apiKeyFile = join(dataDirectory, "first-key");
      const startMs = systemClock.steadyMs() - startedMs;
      process.stdout.write(welcome({ ...addresses, apiKeyFile, startMs }, process.cwd()));
      const isWanted = given.includes(linkOption);
      const { stdin: input, stdout: output } = process;
      await offerFirstLinks({ create: addresses.firstLink, isWanted, runner, input, output });
    },
  });
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
