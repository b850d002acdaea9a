import { createRequire } from "node:module";
import kafkajs from "kafkajs";

interface Broker {
  isConnected(): boolean;
}

interface BrokerPool {
  readonly brokers: Readonly<Record<string, Broker>>;
  findBroker(node: { nodeId: string }): Promise<Broker>;
  withBroker<T>(work: (found: { nodeId: string; broker: Broker }) => Promise<T>): Promise<T>;
}

/**
 * Fault: brokers are asked in any order, and the first that does not connect ends the search. Here living brokers come
 * first, and every one is tried. A client that has asked for nothing yet knows none: the package's own error makes it
 * ask for them.
 * Seen in kafkajs 2.2.4. Upstream: tulios/kafkajs#1373.
 */
const BrokerNotFound = kafkajs.KafkaJSBrokerNotFound as new (message: string) => Error;
const pool: BrokerPool = createRequire(import.meta.url)("kafkajs/src/cluster/brokerPool.js").prototype;

pool.withBroker = async function withBroker(this: BrokerPool, work) {
  const nodeIds = Object.keys(this.brokers).sort(() => Math.random() - 0.5);
  const living = nodeIds.filter((nodeId) => this.brokers[nodeId]?.isConnected());
  let failure: unknown = new BrokerNotFound("no broker is known");
  for (const nodeId of new Set([...living, ...nodeIds])) {
    try {
      return await work({ nodeId, broker: await this.findBroker({ nodeId }) });
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
};
