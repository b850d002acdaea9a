export const logLevels = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof logLevels)[number];

interface LogMethod {
  /** One line: its fields (an error goes under `error`), then a sentence. */
  (fields: object, message: string): void;
  (message: string): void;
}

/** JSON lines with the trace they belong to. Secrets are removed by key and by looks before a line leaves the process. */
export interface Logger {
  readonly debug: LogMethod;
  readonly info: LogMethod;
  readonly warn: LogMethod;
  readonly error: LogMethod;
  /** A logger that adds the fields to each line and follows the level of its parent. */
  child(fields: object): Logger;
  /** Whether a line of this level would be written, to skip costly fields. */
  isEnabled(level: LogLevel): boolean;
  /** Changes the level of this logger and all its children at once. */
  setLevel(level: LogLevel): void;
  flush(): void;
}

export interface LogDestination {
  write(line: string): void;
}

export interface LoggerOptions {
  readonly service: string;
  readonly instance: string;
  readonly level: LogLevel;
  /** Where lines go: standard output when left out. */
  readonly destination?: LogDestination;
}

export declare function createLogger(options: LoggerOptions): Logger;
