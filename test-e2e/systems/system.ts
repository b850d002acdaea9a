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
