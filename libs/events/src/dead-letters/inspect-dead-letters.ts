import { deadLetterTopic, type ServiceName } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import type { EventLog } from "../event-log.ts";
import { type DeadLetter, readDeadLetter, replayRecord } from "./dead-letter.ts";

/** Lists the dead letters of a service that nobody has replayed or dropped, oldest first. */
export async function listDeadLetters(eventLog: EventLog, service: ServiceName): Promise<DeadLetter[]> {
  const letters = new Map<string, DeadLetter>();
  const reader = await eventLog.broadcast({
    service,
    instance: randomId("dead-letters"),
    topics: [deadLetterTopic(service)],
    from: "start",
    onRecord(record) {
      const letter = readDeadLetter(record);
      if (letter) letters.set(record.key, letter);
      else letters.delete(record.key);
    },
  });
  try {
    await reader.caughtUp;
  } finally {
    await reader.close();
  }
  return [...letters.values()].sort((a, b) => a.time.getTime() - b.time.getTime());
}

/**
 * Puts the message back on its topic, with its `ce_id`, for the consumer that gave it up; then drops the letter. Later
 * messages of its key stay ahead of it. If the process dies between the two steps, the message may be replayed again.
 */
export async function replayDeadLetter(eventLog: EventLog, service: ServiceName, letter: DeadLetter): Promise<void> {
  await eventLog.publish([replayRecord(letter)]);
  await dropDeadLetter(eventLog, service, letter.id);
}

/** Removes the letter for good. */
export async function dropDeadLetter(eventLog: EventLog, service: ServiceName, id: string): Promise<void> {
  await eventLog.publish([{ topic: deadLetterTopic(service), key: id, headers: {}, value: null }]);
}
