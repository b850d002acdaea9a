import { DeadLetterDetail, DeadLetterResource } from "@signalbox/contracts";
import type { ServiceName } from "@signalbox/core";
import { deadLetters, parkMessage } from "@signalbox/events";
import { type Routes, rangeOf } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import type { z } from "zod";
import { maskedMessage, namesOf } from "./message-view.ts";
import { type OperatingParts, type RecordRead, startOf, versionOf } from "./operating.ts";
import {
  addBodyRead,
  addStuckMessages,
  changedMeanwhile,
  type OperatingAction,
  type StuckMessages,
} from "./stuck-messages.ts";

/** Ids have colons where the key on the topic has slashes, so that they fit into a path. */
const publicIdOf = (id: string): string => id.replaceAll("/", ":");
const serviceOf = (id: string): string => id.split(".", 1)[0] as string;

/** The dead letters of a service, for operators. */
export function addDeadLetters(routes: Routes, parts: OperatingParts, recordRead: RecordRead): void {
  const { eventLog, groups } = parts;
  const services = () => [...new Set(groups.map(({ service }) => service))];
  const kind: StuckMessages<deadLetters.DeadLetter, typeof DeadLetterResource> = {
    collection: "dead-letters",
    what: "dead letter",
    summary: "Dead letters of this service",
    resource: DeadLetterResource,
    async list(range) {
      const asked = services().filter((one) => range.service === undefined || one === range.service);
      const letters = (await Promise.all(asked.map((one) => deadLetters.list(eventLog, one)))).flat();
      const position = ({ time, id }: deadLetters.ListedDeadLetter) => ({ at: time, id: publicIdOf(id) });
      return rangeOf(letters, startOf(range), position).map(viewDeadLetter);
    },
    async find(id) {
      const service = services().find((one) => one === serviceOf(id));
      return service === undefined ? null : deadLetters.find(eventLog, service, id.replaceAll(":", "/"));
    },
    view: (letter) => viewDeadLetter({ ...letter, bytes: letter.value?.length ?? 0 }),
    actions: [replay(parts), drop(parts)],
  };
  addStuckMessages(routes, parts, kind);
  addBodyRead(routes, kind, {
    summary: "A dead letter with its masked body",
    detail: DeadLetterDetail,
    audit: "dead_letter.read",
    recordRead,
    content: ({ headers, value }) => maskedMessage(headers, value),
  });
}

/**
 * A consumer with a database gets the message back in the queue of its key, where only it looks and an id is handled
 * once; one without gets it on its topic, marked for it alone.
 */
function replay({ outbox, groups }: OperatingParts): OperatingAction<deadLetters.DeadLetter> {
  return {
    audit: "dead_letter.replay",
    needsReason: false,
    effect: ({ consumer }) => `put back for ${consumer}, behind later messages of its key`,
    async change(tx, letter) {
      const group = groups.find((one) => one.group === letter.consumer);
      if (!group) throw changedMeanwhile(`The consumer ${letter.consumer} no longer exists: drop the dead letter.`);
      if (group.parks) await park(tx, letter);
      else await outbox.move(tx, [deadLetters.replayRecord(letter)]);
      await outbox.move(tx, [deadLetters.droppedLetter(group.service, letter.id)]);
    },
  };
}

const park = (tx: Tx, letter: deadLetters.DeadLetter): Promise<void> =>
  parkMessage(tx, letter.consumer, deadLetters.receivedAgain(letter), {
    attempt: 0,
    delayMs: 0,
    reason: "replayed by an operator",
  });

function drop({ outbox }: OperatingParts): OperatingAction<deadLetters.DeadLetter> {
  return {
    audit: "dead_letter.drop",
    needsReason: true,
    effect: () => "removed for good",
    change: (tx, { id }) => outbox.move(tx, [deadLetters.droppedLetter(serviceOf(id) as ServiceName, id)]),
  };
}

function viewDeadLetter(letter: deadLetters.ListedDeadLetter): z.output<typeof DeadLetterResource> {
  const { id, time, consumer, attempts, origin, headers, reason, bytes } = letter;
  const { topic, partition, offset, key } = origin;
  return {
    id: publicIdOf(id),
    service: serviceOf(id) as ServiceName,
    since: time.toISOString(),
    topic,
    key,
    ...namesOf(headers, reason),
    version: versionOf(id, time.getTime(), attempts),
    consumer,
    attempts,
    partition,
    offset: String(offset),
    bytes,
  };
}
