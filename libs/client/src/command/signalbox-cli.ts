#!/usr/bin/env node
import { existsSync, readFileSync, writeSync } from "node:fs";
import http from "node:http";
import process from "node:process";
import { commands } from "./commands.ts";
import { runCommand } from "./run-command.ts";

/** `signalbox <command>`: what the person typed, with this process around it. */

// A reader that has seen enough, such as `head`, is no failure; a full disk is one.
process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(0);
  endWith(`The output cannot be written: ${code}.`);
});
process.stderr.on("error", () => process.exit(1));
process.on("uncaughtException", ({ message }) => endWith(`Unexpected: ${message}.`));

function endWith(message: string): never {
  const json = JSON.stringify({ error: { code: "failed", message } });
  writeSync(2, process.argv.includes("--json") ? `${json}\n` : `signalbox: ${message}\n`);
  process.exit(1);
}

// biome-ignore lint/style/noProcessEnv: the command has no properties; the variables are its documented interface.
const environment = process.env;

// The usual variables name a proxy; older Node has no such function.
if (Object.keys(environment).some((name) => /^https?_proxy$/i.test(name))) http.setGlobalProxyFromEnv?.();

/** The first signal asks the command to end, the next one ends it. */
function stopping(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => (stop.signal.aborted ? process.exit(0) : stop.abort()));
  }
  // `npx` and shells between do not pass on what ends them: without its parent a listener would run for ever.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && stop.abort(), 500).unref();
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
  environment,
  nowMs: () => Date.now(),
  stopping,
  version,
});
