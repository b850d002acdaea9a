import type { IHeaders, KafkaMessage } from "kafkajs";
import type { ReceivedRecord } from "../event-log.ts";

export function toReceivedRecord(topic: string, partition: number, message: KafkaMessage): ReceivedRecord {
  return {
    topic,
    partition,
    offset: BigInt(message.offset),
    key: message.key?.toString() ?? "",
    headers: toText(message.headers ?? {}),
    value: message.value,
    timestampMs: Number(message.timestamp),
  };
}

function toText(headers: IHeaders): Record<string, string> {
  const text: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const last = Array.isArray(value) ? value.at(-1) : value;
    if (last !== undefined) text[name] = last.toString();
  }
  return text;
}
