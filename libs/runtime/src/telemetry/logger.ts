import { writeSync } from "node:fs";
import { type Clock, KiB, maskText, systemClock } from "@signalbox/core";
import { type Logger as PinoLogger, pino } from "pino";
import { createOutage, type Outage } from "./outage.ts";
import { redactFields } from "./redaction.ts";
import { spanEngine } from "./tracing/span-engine.ts";

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

interface LogMethod {
  /** One line: its fields (an error goes under `error`), then a sentence. */
  (fields: object, message: string): void;
  (message: string): void;
}

/** Writes JSON lines with their trace. Secrets are removed by name and by form before a line is written. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** Creates a logger that adds the fields to each line and follows the level of its parent. */
  child(fields: object): Logger;
  /** Returns true when a line of this level would be written, to skip expensive fields. */
  isEnabled(level: LogLevel): boolean;
  /** Changes the level of this logger, its parents and its children immediately. */
  setLevel(level: LogLevel): void;
  /** Returns the outage of `what` ("The database"), one for this logger, its parents and its children. */
  outage(what: string): Outage;
  /** Writes buffered lines. Must be called before the process exits. */
  flush(): void;
}

interface LoggerOptions {
  readonly service: string;
  readonly instance: string;
  readonly level: LogLevel;
  /** Receives the lines; default: standard output. */
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
  return wrap(lines, { rank: logLevels.indexOf(level), outages: new Map(), clock }, () => output.flush?.());
}

/** The state shared by a logger and its children; pino's own level is each one's own. */
interface Shared {
  /** The lowest written level, as an index in `logLevels`. */
  rank: number;
  readonly outages: Map<string, Outage>;
  readonly clock: Clock;
}

function wrap(lines: PinoLogger, shared: Shared, flush: () => void): Logger {
  const method = (level: Exclude<LogLevel, "silent">): LogMethod => {
    const rank = logLevels.indexOf(level);
    return (first: object | string, message?: string) => {
      if (rank < shared.rank) return;
      if (typeof first === "string") lines[level](maskText(first));
      else lines[level](redactFields(first), maskText(message ?? ""));
    };
  };
  const info = method("info");
  const warn = method("warn");
  return {
    debug: method("debug"),
    info,
    warn,
    error: method("error"),
    child: (fields) => wrap(lines.child(redactFields(fields)), shared, flush),
    isEnabled: (level) => logLevels.indexOf(level) >= shared.rank,
    setLevel: (level) => {
      shared.rank = logLevels.indexOf(level);
    },
    outage: (what) => {
      const outage = shared.outages.get(what) ?? createOutage(what, { info, warn }, shared.clock);
      shared.outages.set(what, outage);
      return outage;
    },
    flush,
  };
}

/** Caches the text of a time for its millisecond: many lines share one. */
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

interface LogDestination {
  write(line: string): void;
  flush?(): void;
}

let opened: LogDestination | undefined;

/**
 * Creates the standard output of a whole process: two writers would cut each other's lines in half when a pipe accepts
 * only part of one. The lines of one turn of the event loop are one write, in order, and a flush leaves nothing behind.
 */
function standardOutput(): LogDestination {
  opened ??= createBatchingOutput((bytes) => writeSync(1, bytes));
  return opened;
}

const heldMax = 64 * KiB;

function createBatchingOutput(write: (bytes: Buffer) => number): LogDestination {
  let held = "";
  let isScheduled = false;
  const flush = () => {
    isScheduled = false;
    const text = held;
    held = "";
    if (text !== "") writeAll(write, Buffer.from(text));
  };
  return {
    write: (line) => {
      held += line;
      if (held.length >= heldMax) flush();
      else if (!isScheduled) {
        isScheduled = true;
        setImmediate(flush);
      }
    },
    flush,
  };
}

function writeAll(write: (bytes: Buffer) => number, bytes: Buffer): void {
  let rest = bytes;
  while (rest.length > 0) {
    try {
      rest = rest.subarray(write(rest));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // The reader is slow and the pipe does not block: wait a moment rather than spin.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      // The reader is gone; losing lines is better than ending the process for them.
      else if (code === "EPIPE" || code === "EBADF" || code === "EIO") return;
      else throw error;
    }
  }
}
