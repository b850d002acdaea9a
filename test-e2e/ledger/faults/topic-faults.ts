import kafkajs, { type Admin } from "kafkajs";
import type { KafkaCluster, LedgerSystem } from "../systems/ledger-system.ts";
import { ownSettings, withAdmin } from "../witnesses/kafka-log.ts";
import { poisonHeader, unreadTopics } from "../witnesses/log-reader.ts";
import { both, type Fault } from "./fault.ts";

/** Topics of state. Who lost them has it in a database, and repeats it. */
const stateTopics = ["signalbox.access.v1", "signalbox.config.v1"];
/** Twice what a reader decodes of one batch; compressed it has a few kilobytes. */
const bombBytes = 32 * 2 ** 20;

const clientOf = ({ kafka }: LedgerSystem) => {
  const { addresses } = kafka as KafkaCluster;
  return new kafkajs.Kafka({ clientId: "ledger", brokers: [...addresses], logLevel: kafkajs.logLevel.NOTHING });
};

const topicsOf = async (admin: Admin): Promise<string[]> =>
  (await admin.listTopics()).filter((name) => name.startsWith("signalbox.") && !unreadTopics.has(name));

/** Faults of topics that somebody else writes to or administers. */
export const topicFaults: readonly Fault[] = [
  /** The brokers compress what they are sent again, with a codec that the services never write. */
  {
    name: "topics compressed with lz4 for 6 s",
    modes: ["engines"],
    lastsMs: 6_000,
    isLong: true,
    async begin(system) {
      const compress = (type: string) =>
        withAdmin(clientOf(system), async (admin) => {
          const resources = await Promise.all(
            (await topicsOf(admin)).map(async (name) => {
              const others = (await ownSettings(admin, name)).filter((setting) => setting.name !== "compression.type");
              const configEntries = [...others, { name: "compression.type", value: type }];
              return { type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries };
            }),
          );
          await admin.alterConfigs({ validateOnly: false, resources });
        });
      await compress("lz4");
      return { undo: () => compress("producer") };
    },
  },
  /** A batch on every topic that is small as the broker sees it. */
  {
    name: "a decompression bomb on each topic",
    modes: ["engines"],
    lastsMs: 1_000,
    isLong: true,
    async begin(system) {
      const topics = await withAdmin(clientOf(system), topicsOf);
      const producer = clientOf(system).producer();
      await producer.connect();
      const message = { key: "bomb", value: Buffer.alloc(bombBytes), headers: { [poisonHeader]: "1" }, partition: 0 };
      for (const topic of topics)
        await producer.send({ topic, messages: [message], compression: kafkajs.CompressionTypes.ZSTD });
      await producer.disconnect();
      return { undo: async () => {} };
    },
  },
  {
    name: "topics of state deleted and created again",
    modes: both,
    lastsMs: 1_000,
    isLong: true,
    async begin({ log }) {
      await log.recreate(stateTopics);
      return { undo: async () => {} };
    },
  },
];
