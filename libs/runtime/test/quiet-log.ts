import { createLogger, type Logger } from "../src/telemetry/logger.ts";

/** Creates a logger whose lines a test can read. */
export function quietLog(): { log: Logger; lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  return { log: createLogger({ service: "account", instance: "account_1", level: "debug", destination }), lines };
}
