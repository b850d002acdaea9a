import type { Evidence, Invariant, LogRecord, Subscriber } from "../evidence.ts";
import { isTold } from "../witnesses/subscribers.ts";
import { distinct, groupBy, records, succeeded } from "./look-up.ts";

export const toldInOrder: Invariant = {
  name: "told-in-order",
  sentence:
    "A subscriber who comes back with a cursor is told every event, in the order of its image, and no more often than the log has it.",
  violations: (evidence) =>
    evidence.subscribers.flatMap((one) => [...untold(evidence, one), ...mistold(evidence, one)]),
};

/** Finds events that a subscriber missed: changes while it listened, and all events of an image after its first one. */
function untold(evidence: Evidence, { account, told, listeningSince }: Subscriber): string[] {
  const heard = new Set(told);
  const ofAccount = distinct(evidence.log.filter((one) => one.accountId === account && isTold(one)));
  const later = [...groupBy(ofAccount, ({ key }) => key).values()].flatMap((ofImage) => {
    const first = ofImage.findIndex(({ eventId }) => heard.has(eventId));
    return first < 0 ? [] : ofImage.slice(first);
  });
  const changed = succeeded(evidence, "patch-image").filter(
    ({ value, invokedAt }) => value.account === account && invokedAt > listeningSince,
  );
  const changes = changed.flatMap(({ value }) =>
    records(evidence, "image.updated")
      .filter(({ key, data }) => key === value.image && data.title === value.title)
      .slice(0, 1),
  );
  return distinct([...later, ...changes])
    .filter(({ eventId }) => !heard.has(eventId))
    .map(({ type, key, eventId }) => `${account} was never told of ${type} ${eventId} of ${key}`);
}

function mistold(evidence: Evidence, { account, told }: Subscriber): string[] {
  const copies = groupBy(evidence.log, ({ eventId }) => eventId);
  const known = told.flatMap((eventId) => copies.get(eventId)?.slice(0, 1) ?? []);
  const counts = groupBy(told, (eventId) => eventId);
  return [
    ...[...counts.keys()]
      .filter((eventId) => copies.get(eventId)?.[0]?.accountId !== account)
      .map((eventId) => `${account} was told of ${eventId}, which is not on the log as its event`),
    ...[...counts]
      .filter(([eventId, all]) => all.length > (copies.get(eventId)?.length ?? all.length))
      .map(([eventId, all]) => `${account} was told of ${eventId} ${all.length} times`),
    ...[...groupBy(distinct(known), ({ key }) => key)]
      .filter(([, ofImage]) => !isInOrder(ofImage, evidence.log))
      .map(([key, ofImage]) => `${account} was told of ${key} out of order: ${ofImage.map(({ eventId }) => eventId)}`),
  ];
}

/** Places on the log, by the first copy of each. */
function isInOrder(told: readonly LogRecord[], log: readonly LogRecord[]): boolean {
  const places = told.map((one) => log.indexOf(one));
  return places.every((place, at) => at === 0 || place > (places[at - 1] ?? 0));
}
