import type { LogReader } from "../witnesses/log-reader.ts";
import type { Query } from "./database.ts";
import type { Instance } from "./instance.ts";

export type Mode = "embedded" | "engines";

/** An engine that can be taken away. */
export interface Engine {
  /** `kill -9` of all its processes. */
  kill(): Promise<void>;
  /** Starts it again where it was; returns once it answers. */
  restart(): Promise<void>;
}

/** What stands between one instance of each service and the engines, on the engines only. */
export interface Between {
  /** Connections stay open and nothing gets through. */
  hold(): void;
  release(): void;
  setLatency(milliseconds: number): void;
  /** The instances whose connections lead through it. */
  readonly instances: readonly string[];
}

export interface KafkaCluster {
  readonly brokers: readonly (Engine & { pause(): Promise<void>; resume(): Promise<void> })[];
  /** Which of the brokers is the controller now. */
  controller(): Promise<number>;
}

/** A running Signalbox as the ledger sees it: addresses, processes to kill, engines to take away, databases to read. */
export interface LedgerSystem {
  readonly mode: Mode;
  readonly baseUrl: string;
  /** The address of the issuer's tokens, for new people. */
  readonly administratorKey: string;
  readonly instances: readonly Instance[];
  readonly query: Query;
  /** The databases of the services, by service. */
  readonly databases: ReadonlyMap<string, string>;
  readonly log: LogReader;
  readonly postgres: Engine;
  readonly kafka: KafkaCluster | null;
  readonly redis: Engine | null;
  readonly objects: Engine | null;
  readonly between: Between | null;
  /** Where the embedded system keeps bytes, on a disk of its own that is small enough to fill. */
  readonly blobDisk: string | null;
  /** The folder in which uploads wait while they arrive. */
  readonly stagingFolder: string;
  /** Starts over on an empty folder, and is killed `afterMs` into that first start; then started again. */
  readonly beginAgain: ((afterMs: number) => Promise<void>) | null;
  close(): Promise<void>;
}
