/** Options of every call. */
export interface CallOptions {
  /** Ends the call, its retries and its waits. */
  readonly signal?: AbortSignal | undefined;
  /** Time limit of one try. Default: that of the client. */
  readonly timeoutMs?: number;
  /**
   * The key under which a change has one effect within 24 hours. Default: a new one for each call, so that retries are
   * harmless. Give one of your own to repeat a call after a crash.
   */
  readonly idempotencyKey?: string | undefined;
  /** The entity tag that the change is based on, from `etagOf`: a stale one is refused with `conflict`. */
  readonly ifMatch?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request before the credential, the deadline and the retries are added. */
export interface Call extends CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
  readonly bodySerializer?: (body: unknown) => unknown;
  /** True when a repetition has no second effect, although neither method nor headers say so. */
  readonly isRepeatable?: boolean;
  /** True for an answer whose body the caller reads: the time limit is that of its headers. */
  readonly isStream?: boolean | undefined;
}

interface Answer {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** Sends a request and returns its answer, refusals included. */
export type Send = (method: string, path: string, call: Call) => Promise<Answer>;
