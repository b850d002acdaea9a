import type { Client } from "../client.ts";
import type { Output } from "./output.ts";
import type { Profiles } from "./profiles.ts";

/** A signed-in connection to one deployment. */
export interface Connection {
  /** Address without a slash at its end. */
  readonly baseUrl: string;
  readonly client: Client;
  /** Sends a request that the typed client cannot: any path, a stream. It follows no redirect, so no credential leaves. */
  readonly send: (path: string, request?: RequestInit, timeoutMs?: number) => Promise<Response>;
}

/** The surroundings of one call: made once in `signalbox-cli.ts`, and by tests. */
export interface Context {
  readonly output: Output;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  readonly profiles: Profiles;
  /** Values of `--profile` and `--url`. */
  readonly profile: string | null;
  readonly url: string | null;
  /** True when a person is at a terminal and can be asked. */
  readonly isInteractive: boolean;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  /** Aborts at the first signal to stop. A command that takes it ends by itself; others are ended by the signal. */
  readonly stopping: () => AbortSignal;
}
