import type { Engine, KafkaCluster } from "../systems/ledger-system.ts";
import type { Fault, StartedFault } from "./fault.ts";
import { fillDisk } from "./machine-faults.ts";

const clusterOf = (kafka: KafkaCluster | null): KafkaCluster => {
  if (kafka === null) throw new Error("this system has no Kafka");
  return kafka;
};

async function killEngines(engines: readonly Engine[]): Promise<StartedFault> {
  await Promise.all(engines.map((one) => one.kill()));
  return { undo: async () => void (await Promise.all(engines.map((one) => one.restart()))) };
}

/** Faults of Kafka, Redis, the object store, and the ways to them. */
export const engineFaults: readonly Fault[] = [
  {
    name: "kill -9 of one of three brokers",
    modes: ["engines"],
    lastsMs: 4_000,
    begin: ({ kafka }, random) => killEngines([random.pick(clusterOf(kafka).brokers)]),
  },
  {
    name: "kill -9 of the controller of Kafka",
    modes: ["engines"],
    lastsMs: 4_000,
    async begin({ kafka }) {
      const cluster = clusterOf(kafka);
      return await killEngines([cluster.brokers[await cluster.controller()] as Engine]);
    },
  },
  {
    name: "kill -9 of all brokers",
    modes: ["engines"],
    lastsMs: 2_000,
    isLong: true,
    begin: ({ kafka }) => killEngines(clusterOf(kafka).brokers),
  },
  /** Longer than the session timeouts of brokers and group members: their roles move to others. */
  {
    name: "one of three brokers halted for 8 s",
    modes: ["engines"],
    lastsMs: 8_000,
    isLong: true,
    async begin({ kafka }, random) {
      const broker = random.pick(clusterOf(kafka).brokers);
      await broker.pause();
      return { undo: () => broker.resume() };
    },
  },
  {
    name: "all brokers halted for 25 s",
    modes: ["engines"],
    lastsMs: 25_000,
    isLong: true,
    async begin({ kafka }) {
      const { brokers } = clusterOf(kafka);
      await Promise.all(brokers.map((one) => one.pause()));
      return { undo: async () => void (await Promise.all(brokers.map((one) => one.resume()))) };
    },
  },
  {
    name: "Redis killed, its data lost",
    modes: ["engines"],
    lastsMs: 2_000,
    begin: ({ redis }) => killEngines(redis ? [redis] : []),
  },
  {
    name: "object store away",
    modes: ["engines"],
    lastsMs: 4_000,
    begin: ({ objects }) => killEngines(objects ? [objects] : []),
  },
  {
    name: "object store answers every second request by 503, 400 or 500 for 6 s",
    modes: ["engines"],
    lastsMs: 6_000,
    async begin({ objects }) {
      objects?.fail();
      return { undo: async () => objects?.pass() };
    },
  },
  {
    name: "connections of one half held for 10 s, then released",
    modes: ["engines"],
    lastsMs: 10_000,
    isLong: true,
    async begin({ between }) {
      between?.hold();
      return { halted: between?.instances ?? [], undo: async () => between?.release() };
    },
  },
  {
    name: "latency of 300 ms for one half",
    modes: ["engines"],
    lastsMs: 4_000,
    async begin({ between }) {
      between?.setLatency(300);
      return { halted: between?.instances ?? [], undo: async () => between?.setLatency(0) };
    },
  },
  {
    name: "disk of the blobs full",
    modes: ["embedded"],
    lastsMs: 2_000,
    async begin({ blobDisk }) {
      if (blobDisk === null) return { undo: async () => {} };
      return { undo: await fillDisk(blobDisk) };
    },
  },
];
