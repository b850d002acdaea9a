#!/usr/bin/env node
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { commands } from "./commands.ts";
import { runCommand } from "./run-command.ts";

/** `signalbox <command>`: what the person typed, with this process around it. */

// A reader that has seen enough, such as `head`, is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

/** The first signal asks the command to end, the next one ends it. */
function stopping(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => (stop.signal.aborted ? process.exit(1) : stop.abort()));
  }
  return stop.signal;
}

/** The version of the package, or of the clone that this file is in. */
function version(): string {
  const cloned = new URL("../../../../package.json", import.meta.url);
  const manifest = existsSync(cloned) ? cloned : new URL("../../package.json", import.meta.url);
  return JSON.parse(readFileSync(manifest, "utf8")).version;
}

process.exitCode = await runCommand(commands, process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  // biome-ignore lint/style/noProcessEnv: the command has no properties; the variables are its documented interface.
  environment: process.env,
  nowMs: () => Date.now(),
  stopping,
  version,
});
