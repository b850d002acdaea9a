import process from "node:process";
import { format } from "node:util";
import type { Logger } from "./telemetry/logger.ts";

const levels = { debug: "debug", log: "info", info: "info", warn: "warn", error: "error", trace: "debug" } as const;

/**
 * Writes what libraries print by themselves, and the warnings of Node, to the log: a reader of the lines of a process
 * can parse each of them.
 */
export function logLibraryOutput(log: Logger): void {
  for (const [method, level] of Object.entries(levels)) {
    console[method as keyof typeof levels] = (...printed: unknown[]) =>
      log[level]({ printed: format(...printed) }, "A library printed a message");
  }
  // Node's own listener prints them.
  process.removeAllListeners("warning");
  process.on("warning", (error) => log.warn({ error }, "A Node.js warning"));
}
