import { createRequire } from "node:module";
import type { ITopicMetadata } from "kafkajs";

interface Decoder {
  readInt16(): number;
  readInt32(): number;
  readBoolean(): boolean;
  readBytes(bytes: number): Buffer;
  readUVarIntString(): string | null;
  readUVarIntArray<T>(read: (decoder: Decoder) => T): T[] | null;
  readTaggedFields(): unknown;
}

interface Encoder {
  writeBoolean(value: boolean): Encoder;
  writeBuffer(value: Buffer): Encoder;
  writeUVarIntString(value: string): Encoder;
  writeUVarIntArray(items: readonly Encoder[] | null): Encoder;
}

interface MetadataOptions {
  readonly topics: readonly string[];
  readonly allowAutoTopicCreation?: boolean;
}

interface Definition {
  versions: readonly string[];
  protocol(chosen: { readonly version: number }): (options: MetadataOptions) => unknown;
}

const load = createRequire(import.meta.url);
const EncoderOf: new () => Encoder = load("kafkajs/src/protocol/encoder.js");
const DecoderOf: new (bytes: Buffer) => Decoder = load("kafkajs/src/protocol/decoder.js");
const metadata: Definition = load("kafkajs/src/protocol/requests/metadata/index.js");
const { parse } = load("kafkajs/src/protocol/requests/metadata/v6/response.js");
const { Metadata: apiKey } = load("kafkajs/src/protocol/requests/apiKeys.js");

/** The first version whose topics have ids and whose server side is whole (KIP-516, Kafka 3.1). */
const versionWithIds = 12;
const newestOfKafkajs = 6;
const uuidBytes = 16;
const noFields = Buffer.of(0);

/**
 * Fault: kafkajs asks for the metadata of topics in a version without ids, so a topic that was deleted and created again
 * cannot be told from the former one. Here it asks brokers that know ids for them; others are asked as before.
 * Seen in kafkajs 2.2.4. Upstream: none; the protocol is KIP-516.
 */
const { versions, protocol } = metadata;
metadata.versions = [...versions, String(versionWithIds)];
metadata.protocol = ({ version }) => {
  if (version < versionWithIds) return protocol({ version: Math.min(version, newestOfKafkajs) });
  return (options) => ({
    request: requestOf(options),
    response: { decode, parse: (answer: unknown) => parse(answer) },
  });
};

/** Returns the id of a described topic; null from brokers that know none. */
export const topicIdOf = ({ partitions }: ITopicMetadata): string | null =>
  (partitions[0] as { topicId?: string } | undefined)?.topicId ?? null;

const requestOf = ({ topics, allowAutoTopicCreation = true }: MetadataOptions) => ({
  apiKey,
  apiVersion: versionWithIds,
  apiName: "Metadata",
  encode: async () => {
    const named = topics.map((topic) =>
      new EncoderOf().writeBuffer(Buffer.alloc(uuidBytes)).writeUVarIntString(topic).writeBuffer(noFields),
    );
    return new EncoderOf()
      .writeBuffer(noFields) // the end of the header, which has them since it is flexible
      .writeUVarIntArray(named.length > 0 ? named : null)
      .writeBoolean(allowAutoTopicCreation)
      .writeBoolean(false) // without the operations that we may use
      .writeBuffer(noFields);
  },
});

async function decode(bytes: Buffer) {
  const decoder = new DecoderOf(bytes);
  decoder.readTaggedFields();
  return {
    throttleTime: 0,
    clientSideThrottleTime: decoder.readInt32(),
    brokers: decoder.readUVarIntArray(brokerOf) ?? [],
    clusterId: decoder.readUVarIntString(),
    controllerId: decoder.readInt32(),
    topicMetadata: decoder.readUVarIntArray(topicOf) ?? [],
  };
}

function brokerOf(decoder: Decoder) {
  const broker = {
    nodeId: decoder.readInt32(),
    host: decoder.readUVarIntString(),
    port: decoder.readInt32(),
    rack: decoder.readUVarIntString(),
  };
  decoder.readTaggedFields();
  return broker;
}

/** The partitions carry the id of their topic: an admin passes nothing else on. */
function topicOf(decoder: Decoder) {
  const topicErrorCode = decoder.readInt16();
  const topic = decoder.readUVarIntString();
  const topicId = decoder.readBytes(uuidBytes).toString("hex");
  const isInternal = decoder.readBoolean();
  const partitions = decoder.readUVarIntArray(partitionOf) ?? [];
  decoder.readInt32();
  decoder.readTaggedFields();
  const partitionMetadata = partitions.map((partition) => ({ ...partition, topicId }));
  return { topicErrorCode, topic, isInternal, partitionMetadata };
}

function partitionOf(decoder: Decoder) {
  const ids = () => decoder.readUVarIntArray((one) => one.readInt32()) ?? [];
  const partitionErrorCode = decoder.readInt16();
  const [partitionId, leader] = [decoder.readInt32(), decoder.readInt32()];
  decoder.readInt32(); // the epoch of the leader
  const partition = { partitionErrorCode, partitionId, leader, replicas: ids(), isr: ids(), offlineReplicas: ids() };
  decoder.readTaggedFields();
  return partition;
}
