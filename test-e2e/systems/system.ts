import type { ServiceName } from "@signalbox/core";

/** A running Signalbox for its users: addresses and one key. Scenarios use nothing else. */
export interface System {
  readonly baseUrl: string;
  readonly managementUrl: string;
  /** Management servers of all processes; all the same in the embedded mode. */
  readonly managementUrls: ReadonlyMap<string, string>;
  readonly apiKey: string;
  /** For `openEventLog`: the address from which an internal team reads events. */
  readonly eventsUrl: string;
  /** The database of a service, to put it into a state that its users cannot bring about. */
  databaseUrl(service: ServiceName): string;
  /** Sends the stop signal as an operator does and returns the exit codes by process name. */
  stop(): Promise<ReadonlyMap<string, number | null>>;
}

export interface SystemOptions {
  /** Additional properties, by name, for every process. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** Registers a part to be closed, in reverse order, and returns it. */
export type Keep = <T extends { close(): Promise<void> }>(part: T) => T;

export const keepIn =
  (opened: AsyncDisposableStack): Keep =>
  (part) => {
    opened.defer(() => part.close());
    return part;
  };

/** Properties without limits: one caller of a test stands for many. */
export const unlimited: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["credential", "account", "failed-sign-in", "anonymous"].map((kind) => [
      `http.rate-limit.${kind}.requests`,
      "1000000",
    ]),
  ),
  "http.rate-limit.credential.burst": "1000000",
};
