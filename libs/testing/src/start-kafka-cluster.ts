import { freePort, newClusterId } from "@signalbox/infra/engines/index.ts";
import { type OwnEngine, startEngine } from "./start-engine.ts";

export interface KafkaCluster {
  /** Value of `events.url`, with every broker. */
  readonly url: string;
  /** In the order of their ids, which count from 1. */
  readonly brokers: readonly OwnEngine[];
  close(): Promise<void>;
}

interface ClusterOptions {
  readonly brokers?: number;
  /** Number of replicas of each partition. With 1, a broker that dies takes its partitions with it. */
  readonly copies: number;
}

/** Starts several brokers for this test alone, which share the role of the controller: one of three may be down. */
export async function startKafkaCluster({ brokers: count = 3, copies }: ClusterOptions): Promise<KafkaCluster> {
  const clusterId = newClusterId();
  const controllerPorts = await Promise.all(Array.from({ length: count }, freePort));
  const brokers = await Promise.all(
    controllerPorts.map((_, at) =>
      startEngine("kafka", { member: { id: at + 1, clusterId, controllerPorts, copies } }),
    ),
  );
  return {
    url: `kafka://${brokers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`,
    brokers,
    close: async () => void (await Promise.all(brokers.map((broker) => broker.close()))),
  };
}
