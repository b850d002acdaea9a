import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { logLibraryOutput } from "./log-library-output.ts";
import { createLogger } from "./telemetry/logger.ts";

test("what a library prints is a line of the log", async (context) => {
  for (const method of ["log", "debug", "info", "warn", "error", "trace"] as const)
    context.mock.method(console, method);
  const before = process.listeners("warning");
  context.after(() => {
    process.removeAllListeners("warning");
    for (const listener of before) process.on("warning", listener);
  });
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  logLibraryOutput(createLogger({ service: "account", instance: "account_1", level: "info", destination }));

  // biome-ignore lint/suspicious/noConsole: a library prints like this.
  console.error("\n  Error: read %s\n", "ECONNRESET", new Error("reset"));
  // biome-ignore lint/suspicious/noConsole: a library prints like this.
  console.info("a notice");
  const leaking = new EventEmitter();
  for (let count = 0; count < 11; count++) leaking.on("change", () => {});
  await once(process, "warning");
  assert.match(String(lines[0]?.printed), /Error: read ECONNRESET[\s\S]*Error: reset/);
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [
      ["error", "A library printed a message"],
      ["info", "A library printed a message"],
      ["warn", "A Node.js warning"],
    ],
  );
});
