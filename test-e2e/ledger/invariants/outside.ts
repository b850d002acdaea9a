import type { Agreement, EndpointFate, Evidence, Invariant, LogRecord } from "../evidence.ts";
import { distinct, endsWithinMs, excused, groupBy, operations } from "./look-up.ts";

const deletedWithinMs = 30_000;

/** Jobs and their results also have image types, but are for services alone. */
const wants = ({ types }: EndpointFate, { topic, type }: LogRecord) =>
  !topic.startsWith("signalbox.image-render") &&
  types.some((wanted) => wanted === type || (wanted.endsWith("*") && type.startsWith(wanted.slice(0, -1))));

export const deliveredOnce: Invariant = {
  name: "delivered-under-one-id",
  sentence: "Every event that an endpoint wants is received under one delivery id, and none 30 s after its deletion.",
  violations: (evidence) => [
    ...undelivered(evidence),
    ...severalIds(evidence),
    ...evidence.received
      .filter(({ endpoint, t }) => {
        const deletedAt = evidence.endpoints[endpoint]?.deletedAt ?? Number.POSITIVE_INFINITY;
        return t > excused(evidence, deletedAt, deletedWithinMs);
      })
      .map(({ endpoint, eventId }) => `${endpoint} got ${eventId} long after its deletion`),
  ],
};

function undelivered({ log, endpoints, received, accounts, publications }: Evidence): string[] {
  const taken = new Set(
    received.filter(({ status }) => status === 200).map(({ endpoint, eventId }) => `${endpoint} ${eventId}`),
  );
  const events = distinct(log);
  const known = new Set([...events.map(({ eventId }) => eventId), ...publications.map(({ event }) => event)]);
  const ofRound = Object.entries(endpoints).filter(([, { account }]) => account in accounts);
  const missing = ofRound.flatMap(([endpoint, fate]) =>
    fate.deletedAt !== null
      ? []
      : events
          .filter((record) => record.accountId === fate.account && wants(fate, record))
          .filter(({ eventId }) => !taken.has(`${endpoint} ${eventId}`))
          .map(({ eventId, type, key }) => `${endpoint} never took ${type} ${eventId} of ${key}`),
  );
  const names = new Set(ofRound.map(([name]) => name));
  const invented = received.filter(({ endpoint, eventId }) => names.has(endpoint) && !known.has(eventId));
  return [...missing, ...invented.map(({ endpoint, eventId }) => `${endpoint} got ${eventId}, which nobody published`)];
}

function severalIds({ received }: Evidence): string[] {
  const ids = (keyOf: (one: Evidence["received"][number]) => string, idOf: typeof keyOf) =>
    [...groupBy(received, keyOf)]
      .map(([key, all]) => [key, new Set(all.map(idOf))] as const)
      .filter(([, found]) => found.size > 1)
      .map(([key, found]) => `${key} came under ${[...found].join(" and ")}`);
  return [
    ...ids(
      ({ endpoint, eventId }) => `${endpoint} ${eventId}`,
      ({ deliveryId }) => deliveryId,
    ),
    ...ids(
      ({ deliveryId }) => deliveryId,
      ({ endpoint, eventId }) => `${endpoint} ${eventId}`,
    ),
  ];
}

export const endedStaysEnded: Invariant = {
  name: "ended-stays-ended",
  sentence: "A deletion, revocation or pause is permanent, two seconds after its answer at the latest.",
  violations: (evidence) => [...letIn(evidence), ...deliveredWhilePaused(evidence), ...cameBack(evidence)],
};

function letIn(evidence: Evidence): string[] {
  return operations(evidence, "probe")
    .filter(({ value, answer, invokedAt }) => {
      const endsAt = excused(evidence, value.revokedAt, endsWithinMs + value.lateMs);
      return answer.verdict === "let in" && invokedAt > endsAt;
    })
    .map(({ value, invokedAt }) => {
      const afterMs = Math.round(invokedAt - value.revokedAt);
      return `${value.service} at ${value.instance} let ${value.key} in ${afterMs} ms after its revocation`;
    });
}

function deliveredWhilePaused(evidence: Evidence): string[] {
  const turns = evidence.operations.filter(({ op }) => op === "pause-endpoint" || op === "resume-endpoint");
  return [...groupBy(turns, ({ value }) => value.endpoint)].flatMap(([endpoint, all]) =>
    all.flatMap((turn, index) => {
      if (turn.op !== "pause-endpoint" || turn.outcome !== "ok") return [];
      const from = excused(evidence, turn.endedAt, endsWithinMs);
      const to = all[index + 1]?.invokedAt ?? Number.POSITIVE_INFINITY;
      return evidence.received
        .filter((one) => one.endpoint === endpoint && one.t > from && one.t < to)
        .map(({ eventId, t }) => `${endpoint} got ${eventId} ${Math.round(t - turn.endedAt)} ms after its pause`);
    }),
  );
}

function cameBack(evidence: Evidence): string[] {
  const done = (op: string) => operations(evidence, op).filter(({ outcome }) => outcome === "ok");
  return [
    ...done("delete-image")
      .filter(({ value }) => evidence.images[value.image] !== undefined)
      .map(({ value }) => `the image ${value.image} is there after its deletion`),
    ...done("revoke-key")
      .filter(({ answer }) => !evidence.revokedKeys.includes(answer.key))
      .map(({ answer }) => `the key ${answer.key} is good after its revocation`),
  ];
}

export const overrideEverywhere: Invariant = {
  name: "override-everywhere",
  sentence: "Every instance runs with the override and the flag of the database, also the one that was started last.",
  violations: ({ overrides, flags }) => [...disagreeing("the override", overrides), ...disagreeing("the flag", flags)],
};

function disagreeing(what: string, { database, instances }: Agreement): string[] {
  return Object.entries(instances)
    .filter(([, value]) => database !== null && value !== database.value)
    .map(([name, value]) => `${name} has ${what} ${value}, the database says ${database?.value}`);
}

export const revisedOnce: Invariant = {
  name: "revised-once",
  sentence: "Every change of a property is one revision of its history, in the order in which they were made.",
  violations: (evidence) => {
    const { revisions } = evidence;
    const of = groupBy(revisions, ({ value }) => value);
    const changes = operations(evidence, "set-property");
    const kept = changes.flatMap(({ value }) => of.get(value.value)?.map(({ revision }) => Number(revision)) ?? []);
    return [
      ...changes.flatMap(({ value: { value }, outcome, answer }) => {
        const found = of.get(value)?.map(({ revision }) => revision) ?? [];
        const [fewest, most] = outcome === "ok" ? [1, 1] : outcome === "fail" ? [0, 0] : [0, 1];
        const isOther = outcome === "ok" && found[0] !== String(answer.revision);
        const isWrong = found.length < fewest || found.length > most || isOther;
        return isWrong ? [`the change to ${value} (${outcome} ${answer.revision}) is kept as ${found}`] : [];
      }),
      ...(kept.some((revision, at) => at > 0 && revision <= (kept[at - 1] ?? 0))
        ? [`the history has the changes in another order: ${kept}`]
        : []),
    ];
  },
};

export const nothingLeft: Invariant = {
  name: "nothing-left",
  sentence: "At the end no message is pending, held, staged or abandoned.",
  violations: ({ residue, log }) => [
    ...Object.entries(residue)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => `${name}: ${count}`),
    ...log
      .filter(({ topic }) => topic.includes(".dead-letters."))
      .map(({ topic, key, type }) => `a dead letter on ${topic}: ${type} of ${key}`),
  ],
};

/** A process that has just restarted is sampled again a second later. */
const afterFaultMs = 5_000;

export const healthIsTrue: Invariant = {
  name: "health-is-true",
  sentence: "Liveness never fails for a working process, and a process that reports ready answers.",
  violations: ({ health, faults }) => {
    const isCalm = ({ t, endedAt }: Evidence["health"][number]) =>
      faults.every(({ from, until }) => endedAt < from || t > until + afterFaultMs);
    const dead = health.filter(({ live }) => live !== null && live !== 200);
    const liars = health.filter((one) => isCalm(one) && one.ready === 200 && (one.read === null || one.read >= 500));
    const last = [...groupBy(health, ({ instance }) => instance).values()].map((all) => all.at(-1));
    return [
      ...dead.map(({ instance, live }) => `${instance} gave itself up: ${live}`),
      ...liars.map(({ instance, read }) => `${instance} said ready and answered ${read ?? "nothing"}`),
      ...last.filter((one) => one?.ready !== 200).map((one) => `${one?.instance} is not ready at the end`),
    ];
  },
};
