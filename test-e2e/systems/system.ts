/** A running Signalbox as its users see it: addresses and one key. Everything a scenario may touch. */
export interface System {
  readonly baseUrl: string;
  readonly managementUrl: string;
  /** Management servers of all processes; one and the same in the embedded mode. */
  readonly managementUrls: ReadonlyMap<string, string>;
  readonly apiKey: string;
  /** For `openEventLog`: what an internal team reads events from. */
  readonly eventsUrl: string;
  /** Sends the stop signal as an operator does and answers with the exit codes by process name. */
  stop(): Promise<ReadonlyMap<string, number | null>>;
}

export interface SystemOptions {
  /** More properties, by name, for every process. */
  readonly properties?: Readonly<Record<string, string>>;
}
