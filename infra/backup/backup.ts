import { resolve } from "node:path";
import process from "node:process";
import { environment, loadConfiguration, startOptions } from "@signalbox/config";
import { MiB, systemClock } from "@signalbox/core";
import { runtimeProperties } from "@signalbox/runtime";
import { foreignNames } from "../embedded/service-configurations.ts";
import { print, runCommand } from "../kafka/run-command.ts";
import { type Manifest, noteVerification } from "./manifest.ts";
import { withEngines } from "./open-engines.ts";
import { restoreBackup, verifyBackup } from "./restore-backup.ts";
import { takeBackup } from "./take-backup.ts";

const usage = `usage: npm run backup -- take <folder>      all databases, events and blobs at one moment, while everything runs
                         verify <folder>    whether a backup is whole and as it was written
                         restore <folder>   into empty engines, before anything is started on them
`;

const argv = process.argv.slice(2);
const [command = "", given = "", ...more] = argv.filter((argument) => !argument.startsWith("--"));
const folder = resolve(given);
const startedMs = systemClock.steadyMs();

const commands: Record<string, () => Promise<void>> = {
  async take() {
    const taken = await withEngines(argv, (engines) => takeBackup(engines, folder, release()));
    print(`took the state of ${taken.takenAt} into ${folder} in ${secondsSince()} s`);
    print(summary(taken));
    print(`changes waited ${(taken.heldMs / 1000).toFixed(2)} s; the sealing keys are not in it: keep them elsewhere`);
    for (const key of taken.missing) process.stderr.write(`a record names ${key}, but its bytes are missing\n`);
  },
  async verify() {
    const { manifest } = await verifyBackup(folder);
    print(`${folder} is complete: the state of ${manifest.takenAt}, of release ${manifest.release}`);
    print(summary(manifest));
    await noteVerification(folder, systemClock.now()).catch((error: Error) => {
      process.stderr.write(
        `the folder cannot be written to, so nothing notes that it was verified: ${error.message}\n`,
      );
    });
  },
  async restore() {
    const manifest = await withEngines(argv, (engines) => restoreBackup(engines, folder));
    print(`restored the state of ${manifest.takenAt} from ${folder} in ${secondsSince()} s`);
    print(summary(manifest));
  },
};

const secondsSince = (): string => ((systemClock.steadyMs() - startedMs) / 1000).toFixed(1);

function summary({ databases, records, blobs }: Manifest): string {
  const rows = databases
    .flatMap(({ tables }) => tables.map((table) => table.rows))
    .reduce((sum, each) => sum + each, 0);
  const size = `${(blobs.bytes / MiB).toFixed(1)} MiB`;
  return `${databases.length} databases with ${rows} rows, ${records.count} events, ${blobs.count} blobs with ${size}`;
}

function release(): string {
  const options = argv.filter((argument) => argument.startsWith("--"));
  const variables = environment();
  const { profile, directory = process.cwd() } = startOptions(options, variables);
  const sources = { argv: options, environment: variables, directory, profile, foreignNames: foreignNames() };
  return (
    loadConfiguration({ service: "commands", properties: runtimeProperties, ...sources }).get("deployment.release") ??
    "unreleased"
  );
}

const isWhole = given !== "" && more.length === 0;
await runCommand(usage, isWhole ? (commands[command] ?? null) : null);
