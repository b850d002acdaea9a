import { type Clock, maskText, systemClock } from "@signalbox/core";
import { type Logger as PinoLogger, pino } from "pino";
import { redactFields } from "./redact.ts";
import { spanEngine } from "./span-engine.ts";
import { type LogDestination, standardOutput } from "./standard-output.ts";

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

interface LogMethod {
  /** One line: its fields (an error goes under `error`), then a sentence. */
  (fields: object, message: string): void;
  (message: string): void;
}

/** JSON lines with the trace they belong to. Secrets are removed by name and by looks before a line is written. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** A logger that adds the fields to each line and follows the level of its parent. */
  child(fields: object): Logger;
  /** Tells if a line of this level would be written, to skip costly fields. */
  isEnabled(level: LogLevel): boolean;
  /** Changes the level of this logger, its parents and its children at once. */
  setLevel(level: LogLevel): void;
  /** Writes what is held. To be called before the process exits. */
  flush(): void;
}

export interface LoggerOptions {
  readonly service: string;
  readonly instance: string;
  readonly level: LogLevel;
  /** Takes the lines; standard output when left out. */
  readonly destination?: LogDestination;
  readonly clock?: Clock;
}

/** Creates the logger of a service. */
export function createLogger({ service, instance, level, destination, clock = systemClock }: LoggerOptions): Logger {
  const output = destination ?? standardOutput();
  const lines = pino(
    {
      base: { service, instance },
      level: "debug",
      timestamp: createTimestamp(clock),
      formatters: { level: (label) => ({ level: label }) },
      mixin: traceFields,
    },
    output,
  );
  return wrap(lines, { rank: logLevels.indexOf(level) }, () => output.flush?.());
}

/** The threshold is shared by a logger and its children, which pino's own level is not. */
function wrap(lines: PinoLogger, threshold: { rank: number }, flush: () => void): Logger {
  const method = (level: Exclude<LogLevel, "silent">): LogMethod => {
    const rank = logLevels.indexOf(level);
    return (first: object | string, message?: string) => {
      if (rank < threshold.rank) return;
      if (typeof first === "string") lines[level](maskText(first));
      else lines[level](redactFields(first), maskText(message ?? ""));
    };
  };
  return {
    debug: method("debug"),
    info: method("info"),
    warn: method("warn"),
    error: method("error"),
    child: (fields) => wrap(lines.child(redactFields(fields)), threshold, flush),
    isEnabled: (level) => logLevels.indexOf(level) >= threshold.rank,
    setLevel: (level) => {
      threshold.rank = logLevels.indexOf(level);
    },
    flush,
  };
}

/** The text of a time is kept for its millisecond: many lines share one. */
function createTimestamp(clock: Clock): () => string {
  let keptMs = Number.NaN;
  let kept = "";
  return () => {
    const nowMs = clock.nowMs();
    if (nowMs !== keptMs) {
      keptMs = nowMs;
      kept = `,"time":"${new Date(nowMs).toISOString()}"`;
    }
    return kept;
  };
}

function traceFields(): object {
  const identity = spanEngine().current();
  return identity === undefined ? {} : { trace_id: identity.traceId, span_id: identity.spanId };
}
