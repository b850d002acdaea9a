import type { LogReader } from "../witnesses/log-reader.ts";
import type { Query } from "./database.ts";
import type { EdgeCertificate } from "./edge-certificate.ts";
import type { Instance } from "./instance.ts";

export type Mode = "embedded" | "engines";

/** An engine that faults can take away. */
export interface Engine {
  /** `kill -9` of all its processes. */
  kill(): Promise<void>;
  /** Restarts it in place; returns once it answers. */
  restart(): Promise<void>;
}

/** An object store that may answer by errors. */
export interface ObjectServer extends Engine {
  /** Answers every second request by an error that asks for another try. */
  fail(): void;
  pass(): void;
}

/** The proxies between the second instances and the engines. */
export interface Between {
  /** Holds traffic while connections stay open. */
  hold(): void;
  release(): void;
  setLatency(milliseconds: number): void;
  /** The instances whose connections pass through it. */
  readonly instances: readonly string[];
}

export interface Broker extends Engine {
  readonly folder: string;
  pause(): Promise<void>;
  resume(): Promise<void>;
}

export interface KafkaCluster {
  readonly addresses: readonly string[];
  readonly brokers: readonly Broker[];
  /** The disk of the first broker, which is small enough to fill; null where nothing can be mounted. */
  readonly disk: string | null;
  /** Returns the index of the present controller. */
  controller(): Promise<number>;
}

/** A running Signalbox for the ledger: addresses, processes to kill, engines to take away, databases to read. */
export interface LedgerSystem {
  readonly mode: Mode;
  readonly baseUrl: string;
  /** Address of the token issuer, for new people. */
  readonly administratorKey: string;
  readonly instances: readonly Instance[];
  readonly query: Query;
  /** The address of a database, for a session that stays. */
  databaseUrl(name: string): string | Promise<string>;
  /** The databases, by service. */
  readonly databases: ReadonlyMap<string, string>;
  readonly log: LogReader;
  readonly postgres: Engine;
  readonly kafka: KafkaCluster | null;
  readonly redis: (Engine & { command(line: string): Promise<void> }) | null;
  readonly objects: ObjectServer | null;
  readonly between: Between | null;
  /** The certificate that callers see of the edge; null where there is none. */
  readonly certificate: EdgeCertificate | null;
  /** The embedded system's blob folder, on a separate disk that is small enough to fill. */
  readonly blobDisk: string | null;
  /** The embedded system's database, on a disk that is small enough to fill. */
  readonly databaseDisk: string | null;
  /** While this file is there no process resolves a name. */
  readonly dnsAwayFile: string;
  /** Folder of the embedded system's data and first key. */
  readonly dataDirectory: string;
  /** The folder of uploads in progress. */
  readonly stagingFolder: string;
  /** Starts over on an empty folder, is killed `afterMs` into that first start, and then started again. */
  readonly beginAgain: ((afterMs: number) => Promise<void>) | null;
  close(): Promise<void>;
}
