/**
 * `npm run test:long`: rounds of the ledger, storms, containers, upgrades, fuzzing. One line a part; a part that passed at
 * this commit is left out when the command is given again, so a run that was stopped goes on where it was.
 * `-- --again` begins anew, `-- --list` only lists the parts, `-- <words>` runs the parts whose names contain them.
 */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { environment } from "@signalbox/runtime";
import { root } from "../generate/repository.ts";
import { type LongPart, longParts } from "./tests/long-parts.ts";
import { longFolder, readLongProgress, writeLongProgress } from "./tests/long-progress.ts";
import { parseTestArguments } from "./tests/tiers.ts";

const { words, runnerOptions: options } = parseTestArguments(process.argv.slice(2));
const parts = longParts().filter(({ name }) => words.every((word) => name.includes(word)));
let progress = await readLongProgress();
if (options.includes("--again")) progress = { ...progress, passed: {} };

if (parts.length === 0) {
  console.error(`No part of this tier matches: ${words.join(" ")}`);
  process.exitCode = 1;
} else if (options.includes("--list")) {
  for (const { name } of parts) console.log(`${progress.passed[name] ? "passed " : "       "} ${name}`);
} else process.exitCode = (await runParts()) ? 0 : 1;

async function runParts(): Promise<boolean> {
  await mkdir(longFolder, { recursive: true });
  let failures = 0;
  for (const part of parts) {
    const before = progress.passed[part.name];
    if (before) {
      printLine("before", before.seconds, part.name);
      continue;
    }
    const startedMs = performance.now();
    const log = join(longFolder, `${part.name.replaceAll(/[^a-z0-9]+/gi, "-")}.log`);
    const passed = await runPart(part, log);
    const seconds = (performance.now() - startedMs) / 1000;
    printLine(passed ? "ok" : "FAILED", seconds, passed ? part.name : `${part.name}: ${relative(root, log)}`);
    if (!passed) failures++;
    else progress = { ...progress, passed: { ...progress.passed, [part.name]: { seconds } } };
    await writeLongProgress(progress);
  }
  console.log(`${parts.length - failures} passed, ${failures} failed`);
  return failures === 0;
}

/** Runs a part with its output in a file. */
async function runPart({ command, variables }: LongPart, log: string): Promise<boolean> {
  const child = spawn(process.execPath, command, {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment(), ...variables },
  });
  const stop = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
  const output = createWriteStream(log);
  child.stderr.pipe(output, { end: false });
  await pipeline(child.stdout, output);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  return (await ended) === 0;
}

function printLine(outcome: string, seconds: number, name: string): void {
  console.log(`${outcome.padEnd(6)} ${seconds.toFixed(1).padStart(8)} s  ${name}`);
}
