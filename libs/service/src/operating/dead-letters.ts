import { DeadLetterDetail, DeadLetterResource, type ServiceName } from "@signalbox/contracts";
import {
  type DeadLetter,
  droppedLetter,
  findDeadLetter,
  type ListedDeadLetter,
  listDeadLetters,
  parkMessage,
  receivedAgain,
  replayRecord,
} from "@signalbox/events";
import { ok, type Routes, rangeOf } from "@signalbox/http";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import { maskedMessage, namesOf } from "./message-view.ts";
import {
  noSuch,
  type OperatingParts,
  OperatingRange,
  operatingBase,
  operatorOf,
  type RecordRead,
  startOf,
  versionOf,
} from "./operating.ts";
import { addAction, changedMeanwhile, type OperatingAction } from "./operating-action.ts";

const collection = "dead-letters";
const what = "dead letter";

/** Ids have colons where the key on the topic has slashes, so that they fit into a path. */
const publicIdOf = (id: string): string => id.replaceAll("/", ":");
const serviceOf = (id: string): string => id.split(".", 1)[0] as string;

/** The dead letters of a service, for operators. */
export function addDeadLetters(routes: Routes, parts: OperatingParts, recordRead: RecordRead): void {
  const { eventLog, groups } = parts;
  const services = () => [...new Set(groups.map(({ service }) => service))];
  const find = async (id: string): Promise<DeadLetter | null> => {
    const service = services().find((one) => one === serviceOf(id));
    return service === undefined ? null : findDeadLetter(eventLog, service, id.replaceAll(":", "/"));
  };
  routes.get(`${operatingBase}${collection}`, {
    summary: "Dead letters of this service",
    auth: "anonymous",
    rateLimit: "none",
    query: OperatingRange,
    responses: { 200: z.object({ items: z.array(DeadLetterResource) }) },
    async handle(input) {
      operatorOf(input, "operations:read");
      const { service } = input.query;
      const asked = services().filter((one) => service === undefined || one === service);
      const letters = (await Promise.all(asked.map((one) => listDeadLetters(eventLog, one)))).flat();
      const position = ({ time, id }: ListedDeadLetter) => ({ at: time, id: publicIdOf(id) });
      return ok({ items: rangeOf(letters, startOf(input.query), position).map(viewDeadLetter) });
    },
  });
  routes.get(`${operatingBase}${collection}/:id`, {
    summary: "A dead letter with its masked body",
    auth: "anonymous",
    audit: "dead_letter.read",
    rateLimit: "none",
    responses: { 200: DeadLetterDetail, 404: "error" },
    async handle(input) {
      const caller = operatorOf(input, "operations:read");
      const letter = await find(input.params.id);
      if (letter === null) throw noSuch(what);
      await recordRead(caller, { action: "dead_letter.read", subject: publicIdOf(letter.id) });
      const { value, headers } = letter;
      return ok({ ...viewDeadLetter({ ...letter, bytes: value?.length ?? 0 }), ...maskedMessage(headers, value) });
    },
  });
  const action = { collection, what, find, view: viewWhole };
  addAction(routes, parts, { ...action, ...replay(parts) });
  addAction(routes, parts, { ...action, ...drop(parts) });
}

type Act = Omit<OperatingAction<DeadLetter>, "collection" | "what" | "find" | "view">;

/**
 * A consumer with a database gets the message back in the queue of its key, where only it looks and an id is handled
 * once; one without gets it on its topic, marked for it alone.
 */
function replay({ outbox, groups }: OperatingParts): Act {
  return {
    audit: "dead_letter.replay",
    needsReason: false,
    effect: ({ consumer }) => `put back for ${consumer}, behind later messages of its key`,
    async change(tx, letter) {
      const group = groups.find((one) => one.group === letter.consumer);
      if (!group) throw changedMeanwhile(`There is no consumer ${letter.consumer} any more: drop the letter.`);
      if (group.parks) await park(tx, letter);
      else await outbox.move(tx, [replayRecord(letter)]);
      await outbox.move(tx, [droppedLetter(group.service, letter.id)]);
    },
  };
}

const park = (tx: Tx, letter: DeadLetter): Promise<void> =>
  parkMessage(tx, letter.consumer, receivedAgain(letter), {
    attempt: 0,
    delayMs: 0,
    reason: "replayed by an operator",
  });

function drop({ outbox }: OperatingParts): Act {
  return {
    audit: "dead_letter.drop",
    needsReason: true,
    effect: () => "removed for good",
    change: (tx, { id }) => outbox.move(tx, [droppedLetter(serviceOf(id) as ServiceName, id)]),
  };
}

const viewWhole = (letter: DeadLetter) => viewDeadLetter({ ...letter, bytes: letter.value?.length ?? 0 });

function viewDeadLetter(letter: ListedDeadLetter): z.output<typeof DeadLetterResource> {
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
