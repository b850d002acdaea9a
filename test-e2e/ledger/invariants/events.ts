import { isDeepStrictEqual } from "node:util";
import type { Evidence, Invariant, LogRecord } from "../evidence.ts";
import { settingsText } from "../writers/edits.ts";
import {
  agreements,
  byKey,
  changes,
  distinct,
  eventsOf,
  groupBy,
  operations,
  possible,
  records,
  succeeded,
} from "./look-up.ts";

export const changeAndEvent: Invariant = {
  name: "change-and-event",
  sentence: "Every committed change has its event, and every event its change.",
  violations: (evidence) => [
    ...changes.flatMap((kind) => unmatched(evidence, kind)),
    ...unmatchedImages(evidence),
    ...unmatchedKeys(evidence),
    ...unmatchedWebhooks(evidence),
    ...agreements.flatMap((agreement) => unmatchedAgreement(evidence, agreement)),
  ],
};

function unmatched(evidence: Evidence, kind: (typeof changes)[number]): string[] {
  const events = new Set(eventsOf(evidence, kind).map(({ change }) => change));
  const made = succeeded(evidence, kind.op).map(({ value }) => kind.ofOperation(value));
  const asked = new Set(possible(evidence, kind.op).map(({ value }) => kind.ofOperation(value)));
  return [
    ...made.filter((change) => !events.has(change)).map((change) => `${change} has no ${kind.type}`),
    ...[...events].filter((change) => !asked.has(change)).map((change) => `${kind.type} of ${change} has no change`),
  ];
}

function unmatchedImages(evidence: Evidence): string[] {
  const keys = (type: string) => new Set(records(evidence, type).map(({ key }) => key));
  const [created, deleted, ready] = [keys("image.created"), keys("image.deleted"), keys("image.rendition_ready")];
  const asked = new Set(possible(evidence, "delete-image").map(({ value }) => value.image));
  const done = succeeded(evidence, "delete-image").map(({ value }) => value.image);
  const there = Object.keys(evidence.images);
  const titles = new Set(possible(evidence, "upload").map(({ value }) => value.title));
  const invented = records(evidence, "image.created").filter(({ data }) => !titles.has(data.title));
  return [
    ...there.filter((id) => !created.has(id)).map((id) => `${id} has no image.created`),
    ...there.filter((id) => !ready.has(id)).map((id) => `${id} has no image.rendition_ready`),
    ...invented.map(({ key }) => `image.created of ${key} has no upload`),
    ...[...created]
      .filter((id) => evidence.images[id] === undefined && !asked.has(id))
      .map((id) => `image.created of ${id} has no image`),
    ...done.filter((id) => !deleted.has(id)).map((id) => `${id} has no image.deleted`),
    ...[...deleted].filter((id) => !asked.has(id)).map((id) => `image.deleted of ${id} has no deletion`),
  ];
}

function unmatchedKeys(evidence: Evidence): string[] {
  const keys = (type: string) => new Set(records(evidence, type).map(({ key }) => key));
  const [created, revoked] = [keys("api_key.created"), keys("api_key.revoked")];
  return [
    ...succeeded(evidence, "create-key")
      .filter(({ answer }) => !created.has(answer.key))
      .map(({ answer }) => `${answer.key} has no api_key.created`),
    ...succeeded(evidence, "revoke-key")
      .filter(({ answer }) => !revoked.has(answer.key))
      .map(({ answer }) => `${answer.key} has no api_key.revoked`),
    ...[...revoked]
      .filter((key) => !evidence.revokedKeys.includes(key))
      .map((key) => `api_key.revoked of ${key} has no revoked key`),
  ];
}

/** Includes webhooks whose partner got no answer. */
function unmatchedWebhooks(evidence: Evidence): string[] {
  const events = new Set(records(evidence, "webhook.received").map(({ key, data }) => `${key} ${data.delivery_id}`));
  const stored = new Set(evidence.webhooks.map(({ source, delivery }) => `${source} ${delivery}`));
  return [
    ...[...stored].filter((one) => !events.has(one)).map((one) => `${one} is stored and has no webhook.received`),
    ...[...events].filter((one) => !stored.has(one)).map((one) => `webhook.received of ${one} is not stored`),
  ];
}

function unmatchedAgreement(evidence: Evidence, { op, type }: (typeof agreements)[number]): string[] {
  // Compaction keeps only the newest record of a property.
  const newest = Math.max(0, ...records(evidence, type).map(({ data }) => Number(data.revision)));
  return succeeded(evidence, op)
    .filter(({ answer }) => Number(answer.revision) > newest)
    .map(({ answer }) => `revision ${answer.revision} has no ${type}`);
}

/** Events that can happen only once, by type. */
const once: Readonly<Record<string, (record: LogRecord) => string>> = {
  "image.created": ({ key }) => key,
  "image.deleted": ({ key }) => key,
  "image.rendition_ready": ({ key }) => key,
  "image.updated": ({ key, data }) => `${key} ${data.title}`,
  "webhook.received": ({ key, data }) => `${key} ${data.delivery_id}`,
  "api_key.created": ({ key }) => key,
  "api_key.revoked": ({ key }) => key,
};

/** Owners repeat their state, each time as an event of its own. A revision says the same each time. */
const unequalRepetitions = (evidence: Evidence, type: string): string[] =>
  [...groupBy(records(evidence, type), ({ key, data }) => `${key} ${data.revision}`)]
    .filter(([, all]) => all.some(({ data }) => !isDeepStrictEqual(data, all[0]?.data)))
    .map(([revision]) => `the records of ${type} of ${revision} differ`);

export const oneEventId: Invariant = {
  name: "one-event-id",
  sentence: "One change has one event id, and the copies of an event are equal.",
  violations: (evidence) => {
    const split = Object.entries(once).flatMap(([type, changeOf]) =>
      [...groupBy(distinct(records(evidence, type)), changeOf)]
        .filter(([, all]) => all.length > 1)
        .map(([change, all]) => `${type} of ${change} has the ids ${all.map(({ eventId }) => eventId).join(", ")}`),
    );
    const unequal = [...groupBy(evidence.log, ({ topic, eventId }) => `${topic} ${eventId}`)]
      .filter(([, copies]) => new Set(copies.map(({ digest }) => digest)).size > 1)
      .map(([name]) => `the copies of ${name} differ`);
    return [...split, ...unequal, ...agreements.flatMap(({ type }) => unequalRepetitions(evidence, type))];
  },
};

export const commitOrder: Invariant = {
  name: "commit-order",
  sentence: "The distinct events of a key come in the order of their commits.",
  violations: (evidence) => [
    ...changes.flatMap((kind) => outOfOrder(evidence, kind)),
    ...agreements.flatMap(({ type }) => revisionsBack(evidence, type)),
    ...misplacedEnds(evidence),
  ],
};

function revisionsBack(evidence: Evidence, type: string): string[] {
  return [...byKey(records(evidence, type))].flatMap(([key, all]) =>
    distinct(all).some(({ data }, index, list) => index > 0 && data.revision < list[index - 1]?.data.revision)
      ? [`the revisions of ${key} go back`]
      : [],
  );
}

/** Finds events out of order: an operation that was acknowledged before another one started has its event earlier. */
function outOfOrder(evidence: Evidence, kind: (typeof changes)[number]): string[] {
  const asked = new Map(operations(evidence, kind.op).map((one) => [kind.ofOperation(one.value), one]));
  return [...groupBy(eventsOf(evidence, kind), ({ record }) => record.key)].flatMap(([, events]) => {
    let latest = { invokedAt: Number.NEGATIVE_INFINITY, change: "" };
    return events.flatMap(({ change }) => {
      const one = asked.get(change);
      if (!one) return [];
      const isLate = one.outcome === "ok" && one.endedAt < latest.invokedAt;
      const problem = isLate ? [`${kind.type} of ${change} comes after that of ${latest.change}`] : [];
      if (one.invokedAt > latest.invokedAt) latest = { invokedAt: one.invokedAt, change };
      return problem;
    });
  });
}

function misplacedEnds(evidence: Evidence): string[] {
  const images = evidence.log.filter(
    ({ topic, accountId }) => topic === "signalbox.image.v1" && accountId in evidence.accounts,
  );
  return [...byKey(images)].flatMap(([key, all]) => {
    const types = distinct(all).map(({ type }) => type);
    const problems = types.indexOf("image.created") > 0 ? [`${key} has events before its creation`] : [];
    const end = types.indexOf("image.deleted");
    const later = end < 0 ? [] : types.slice(end + 1).filter((type) => type !== "image.erased");
    if (later.length > 0) problems.push(`${key} has events after its deletion`);
    if (types.includes("image.erased") && types.indexOf("image.erased") < end)
      problems.push(`${key} was erased before`);
    return problems;
  });
}

export const lastEventIsState: Invariant = {
  name: "last-event-is-state",
  sentence: "The last event of a key on the log shows the last state.",
  violations: (evidence) => [...otherImages(evidence), ...otherAccounts(evidence), ...otherAgreements(evidence)],
};

function otherImages({ log, images, accounts }: Evidence): string[] {
  const all = log.filter(({ topic, accountId }) => topic === "signalbox.image.v1" && accountId in accounts);
  return [...byKey(all).values()].flatMap((ofKey) => {
    const { key, type, data } = ofKey.at(-1) as LogRecord;
    const image = images[key];
    if (type === "image.deleted" || type === "image.erased") return image ? [`${key} is there after its ${type}`] : [];
    const isSame = image && image.title === data.title && image.status === data.status;
    return isSame ? [] : [`the last ${type} of ${key} says ${data.title}, ${data.status}`];
  });
}

function otherAccounts(evidence: Evidence): string[] {
  return Object.entries(evidence.accounts).flatMap(([account, { name, settings }]) => {
    const updated = records(evidence, "account.updated")
      .filter(({ key }) => key === account)
      .at(-1);
    const set = records(evidence, "account.settings_updated")
      .filter(({ key }) => key === account)
      .at(-1);
    return [
      ...(updated && updated.data.display_name !== name
        ? [`the last event calls ${account} ${updated.data.display_name}`]
        : []),
      ...(set && settingsText(set.data) !== settings
        ? [`the last event says ${settingsText(set.data)} of ${account}`]
        : []),
    ];
  });
}

function otherAgreements(evidence: Evidence): string[] {
  return agreements.flatMap(({ type, of }) => {
    const last = records(evidence, type).at(-1);
    const { database } = evidence[of];
    return last && String(last.data.revision) !== database?.revision
      ? [`the last ${type} is of revision ${last.data.revision}, the database has ${database?.revision}`]
      : [];
  });
}

export const stepsBack: Invariant = {
  name: "steps-back",
  sentence: "The log steps back only to repeat a page, in order, and never ends with an older event.",
  violations: ({ log }) =>
    // Several services write to the audit of an account, each in its own order.
    [...groupBy(log, ({ topic, key, source }) => `${topic} ${key} ${source}`)].flatMap(([key, all]) => {
      const places = new Map(distinct(all).map(({ eventId }, place) => [eventId, place]));
      const steps = all.map(({ eventId }) => places.get(eventId) as number);
      if (skips(steps)) return [`${key} leaves out events of a repeated page: ${steps.join(" ")}`];
      return steps.at(-1) === places.size - 1 ? [] : [`${key} ends with an older event: ${steps.join(" ")}`];
    }),
};

/** A delayed page may arrive late and continue into new events; within it nothing is omitted. */
function skips(steps: readonly number[]): boolean {
  let newest = -1;
  return steps.some((place, index) => {
    const before = steps[index - 1] ?? -1;
    const isNew = place > newest;
    newest = Math.max(newest, place);
    return !isNew && place > before + 1;
  });
}
