import { resolve } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { MiB, systemClock } from "@signalbox/core";
import { runtimeProperties } from "@signalbox/runtime";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { commandConfiguration } from "../kafka/engine-url.ts";
import { print, runCommand } from "../kafka/run-command.ts";
import { BackupFolder } from "./backup-folder.ts";
import { backupProperties } from "./backup-properties.ts";
import type { Manifest } from "./manifest.ts";
import { withEngines } from "./open-engines.ts";
import { restoreBackup } from "./restore-backup.ts";
import { checkBackup, keysOf, pauseAfter, runBackup } from "./scheduled-backup.ts";
import { takeBackup } from "./take-backup.ts";

const usage = `usage: npm run backup -- take <folder>      all databases, events and blobs at one moment, while everything runs
                         verify <folder>    whether a backup is whole and as it was written, and can be restored
                         restore <folder>   into empty engines, before anything is started on them
                         run <root>         takes one into a folder of its own, verifies it, and removes old ones
                         schedule <root>    does so once in backup.interval, until it is stopped
                         new-key            makes a key of age to encrypt backups with
`;

const argv = process.argv.slice(2);
const [command = "", given = "", ...more] = argv.filter((argument) => !argument.startsWith("--"));
const path = resolve(given);
const startedMs = systemClock.steadyMs();
const settings = commandConfiguration(argv, { ...runtimeProperties, ...backupProperties });
const release = settings.get("deployment.release") ?? "unreleased";
const folder = new BackupFolder(path, keysOf(settings));

const commands: Record<string, () => Promise<void>> = {
  async take() {
    const taken = await withEngines(argv, (engines) => takeBackup(engines, folder, { release }));
    print(`took the state of ${taken.takenAt} into ${path} in ${secondsSince()} s`);
    print(summary(taken));
    print(`changes waited ${(taken.heldMs / 1000).toFixed(2)} s; the sealing keys are not in it: keep them elsewhere`);
    warnOf(taken.missing);
  },
  async verify() {
    const { manifest, restoredAt } = await checkBackup(folder, settings);
    print(`${path} is complete: the state of ${manifest.takenAt}, of release ${manifest.release}`);
    print(summary(manifest));
    if (restoredAt !== null) print("its databases were restored on the scratch server and dropped again");
  },
  async restore() {
    const manifest = await withEngines(argv, (engines) => restoreBackup(engines, folder));
    print(`restored the state of ${manifest.takenAt} from ${path} in ${secondsSince()} s`);
    print(summary(manifest));
  },
  run: runOnce,
  async schedule() {
    for (;;) {
      const startMs = systemClock.steadyMs();
      const isTaken = await runOnce().then(
        () => true,
        (error: Error) => {
          process.stderr.write(`${error.message}\n`);
          return false;
        },
      );
      await sleep(pauseAfter(isTaken, settings.get("backup.interval"), systemClock.steadyMs() - startMs));
    }
  },
};

async function runOnce(): Promise<void> {
  const startMs = systemClock.steadyMs();
  const work = { settings, release };
  const { folder: made, taken, check, removed } = await withEngines(argv, (engines) => runBackup(engines, path, work));
  const seconds = ((systemClock.steadyMs() - startMs) / 1000).toFixed(1);
  const how = check.restoredAt === null ? "verified by its checksums" : "verified by a restore of its databases";
  print(`${made.path}: the state of ${taken.takenAt}, ${how}, in ${seconds} s; ${summary(taken)}`);
  if (removed.length > 0) print(`removed ${removed.length} that were too old: ${removed.join(", ")}`);
  warnOf(taken.missing);
}

/** Prints the key for `backup.identities` and that for `backup.recipients`. */
async function newKey(): Promise<void> {
  const identity = await generateX25519Identity();
  print(`backup.recipients  ${await identityToRecipient(identity)}`);
  print(`backup.identities  ${identity}`);
}

function warnOf(missing: readonly string[]): void {
  for (const key of missing) process.stderr.write(`a record names ${key}, but its bytes are missing\n`);
}

const secondsSince = (): string => ((systemClock.steadyMs() - startedMs) / 1000).toFixed(1);

function summary({ databases, records, blobs }: Manifest): string {
  const rows = databases
    .flatMap(({ tables }) => tables.map((table) => table.rows))
    .reduce((sum, each) => sum + each, 0);
  const size = `${(blobs.bytes / MiB).toFixed(1)} MiB`;
  return `${databases.length} databases with ${rows} rows, ${records.count} events, ${blobs.count} blobs with ${size}`;
}

const isWhole = given !== "" && more.length === 0;
const withFolder = isWhole ? (commands[command] ?? null) : null;
await runCommand(usage, command === "new-key" && given === "" ? newKey : withFolder);
