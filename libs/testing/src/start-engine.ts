import type { EngineName, KafkaMember } from "@signalbox/infra/engines/engine.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { type OwnEngine, startOwnEngine } from "@signalbox/infra/engines/own-engines.ts";

export type { OwnEngine };

interface StartEngine {
  readonly port?: number;
  /** The port that Kafka advertises to its clients; give it the port of a proxy in front of the broker. */
  readonly advertisedPort?: number;
  /** Kafka's place in a cluster: see `startKafkaCluster`. */
  readonly member?: KafkaMember;
  /** Changes the configuration of Kafka before it starts. */
  readonly configure?: (properties: string) => string;
}

/**
 * Starts an engine for this test alone, so that it may be killed, paused and restarted on its port. Takes 0.1 s (Redis,
 * S3), 1 s (PostgreSQL) or 3 s (Kafka); call `close()` in `after`.
 */
export async function startEngine(name: Exclude<EngineName, "nginx">, options: StartEngine = {}): Promise<OwnEngine> {
  return await startOwnEngine(engineNamed(name), options);
}
