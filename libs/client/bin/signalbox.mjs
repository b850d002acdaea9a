#!/usr/bin/env node
/**
 * Runs the command from its sources, in a clone: `npx signalbox`. Node older than 22.18 cannot read them, so the Node that the clone
 * installed takes over. The packed command is JavaScript and needs no such start.
 */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const program = new URL("../src/command/signalbox-cli.ts", import.meta.url);
if (process.features.typescript) {
  await import(program.href);
} else {
  const node = fileURLToPath(new URL("../../../node_modules/node/bin/node", import.meta.url));
  const child = spawn(node, [fileURLToPath(program), ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends its signals to both; the child decides when it ends.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  child.once("error", (error) => {
    process.stderr.write(`signalbox needs Node 22.18 or newer, or the packages of this clone: ${error.message}\n`);
    process.exitCode = 1;
  });
  child.once("exit", (code) => {
    process.exitCode = code ?? 0;
  });
}
