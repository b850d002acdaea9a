export type EngineName = "postgres" | "redis" | "kafka" | "s3" | "nginx" | "prometheus";

/** The folder of an engine and the port that it should take; without a port a free one is chosen. */
export interface EnginePlace {
  readonly folder: string;
  readonly port?: number;
  /** The port that Kafka tells its clients to connect to, when a proxy stands before it. */
  readonly advertisedPort?: number;
  /** Changes the configuration of Kafka before it starts. */
  readonly configure?: (properties: string) => string;
  /** Makes Kafka one broker of several; left out, it stands alone. */
  readonly member?: KafkaMember;
}

/** One broker's place in a cluster of Kafka. All of them are controllers too, so a majority has to start before one is ready. */
export interface KafkaMember {
  /** Counts from 1. */
  readonly id: number;
  readonly clusterId: string;
  /** Of every broker, in the order of their ids. */
  readonly controllerPorts: readonly number[];
  /** Number of brokers that keep each partition of a topic; the offsets of groups are kept by all. */
  readonly copies: number;
}

/** A started engine, as plain data: what a client needs to reach it and what the command line needs to end it. */
export interface RunningEngine {
  readonly name: EngineName;
  /** The address in the words of our properties, such as `kafka://127.0.0.1:21001`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Tells this process from a later one that got the same pid. */
  readonly identity: string;
  /** Folder that really holds its data; PostgreSQL started by root may have to go elsewhere. */
  readonly folder: string;
  /** Credentials and the like that the URL does not carry. */
  readonly details: Readonly<Record<string, string>>;
}

/** One real engine: how its programs come to this machine, how it starts and how to ask whether it answers. */
export interface Engine {
  readonly name: EngineName;
  /** Makes the programs present and says what was found. Throws `EngineAbsentError` with the command that installs them. */
  fetch(): Promise<string>;
  /** Starts the engine detached from this process and returns once it answers. */
  start(place: EnginePlace): Promise<RunningEngine>;
  /** Resolves to true when something on `port` speaks this engine's protocol. */
  answers(port: number): Promise<boolean>;
  /** The signal on which the engine stops in order. */
  readonly stopSignal: NodeJS.Signals;
}

/** An engine is not on this machine and cannot be fetched by us; `message` carries the command that installs it. */
export class EngineAbsentError extends Error {
  override readonly name = "EngineAbsentError";
}
