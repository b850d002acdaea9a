import type { Chain, ChainStep, Evidence, Invariant, Receipt } from "../evidence.ts";
import { distinct, groupBy, possible, records, succeeded } from "./look-up.ts";

export const whyIsTrue: Invariant = {
  name: "why-is-true",
  sentence: "The chain of every acknowledged id tells its history, to its own account alone.",
  violations: (evidence) => {
    const truth = truthOf(evidence);
    const asked = new Set(evidence.chains.map(({ id }) => id));
    return [
      ...[...truth.keys()].filter((id) => !asked.has(id)).map((id) => `nobody asked why of ${id}`),
      ...evidence.chains.flatMap((chain) => untrue(chain, truth.get(chain.id) ?? null, evidence)),
    ];
  },
};

/** Something that a chain must say. */
interface Fact {
  readonly fact: string;
  readonly isIn: (steps: readonly ChainStep[]) => boolean;
}

const says = (text: string, id?: string): Fact => ({
  fact: id === undefined ? text : `${text} of ${id}`,
  isIn: (steps) => steps.some((step) => step.what.includes(text) && (id === undefined || step.id === id)),
});

function untrue(chain: Chain, facts: readonly Fact[] | null, evidence: Evidence): string[] {
  const { kind, id, steps, statusOfOther } = chain;
  const shown = statusOfOther === 404 ? [] : [`another account was answered ${statusOfOther} about the ${kind} ${id}`];
  // The deliveries of an endpoint go with it.
  if (steps === null && kind === "delivery" && facts === null) return shown;
  if (steps === null) return [...shown, `nothing is known of the ${kind} ${id}`];
  return [
    ...shown,
    ...(facts ?? [])
      .filter(({ isIn }) => !isIn(steps))
      .map(({ fact }) => `the chain of the ${kind} ${id} lacks: ${fact}`),
    ...invented(steps, evidence).map((what) => `the chain of the ${kind} ${id} says ${what}`),
    ...(hasLeftOut(steps) && !isLong(chain) && !isFull(steps)
      ? [`the chain of the ${kind} ${id} leaves steps out of few`]
      : []),
  ];
}

/** Chains show this many events of one thing, and this many entries of the audit. */
const eventsShown = 20;
const entriesShown = 50;

/** Requests and deliveries lead to things of any age. */
const isLong = ({ kind }: Chain) => kind === "request" || kind === "delivery";
const hasLeftOut = (steps: readonly ChainStep[]) => steps.some(({ reason }) => reason === "left out: too many");

/** A chain may leave out steps only where it shows as many as it can of one thing: its events, or the audit's entries. */
function isFull(steps: readonly ChainStep[]): boolean {
  const events = steps.filter(({ what }) => what.includes("arrived for delivery"));
  return events.length >= eventsShown || auditedOf(steps).length >= entriesShown;
}

/** Entries of the audit name their action first, such as `image.update: title.` and `image.create.` */
const auditedOf = (steps: readonly ChainStep[]) => steps.filter(({ what }) => /^[a-z_]+\.[a-z_]+[.:]( |$)/.test(what));

/** Finds attempts with an answer that the receiver did not give as often. */
function invented(steps: readonly ChainStep[], { received }: Evidence): string[] {
  const given = groupBy(received, ({ deliveryId, status }) => `${deliveryId} ${status}`);
  return [...groupBy(steps.flatMap(attemptIn), ({ delivery, status }) => `${delivery} ${status}`)]
    .filter(([answer, attempts]) => attempts.length > (given.get(answer)?.length ?? 0))
    .map(([answer, attempts]) => `${attempts.length} attempts of ${answer}, ${given.get(answer)?.length ?? 0} arrived`);
}

/**
 * Returns the delivery and the status of a step that is an answered attempt. One that was too late to count may be an
 * acknowledgement that was refused.
 */
function attemptIn({ what, link }: ChainStep) {
  const [, status] = what.includes("too late to count")
    ? []
    : (/^Attempt \d+ was answered with (\d+) /.exec(what) ?? []);
  return status === undefined ? [] : [{ status, delivery: link?.split("/").at(-1) ?? "" }];
}

/** Returns what must be in the chain of each acknowledged id, from the history, the log and the receiver. */
function truthOf(evidence: Evidence): Map<string, readonly Fact[]> {
  const { webhooks, replays } = evidence;
  const deliveries = factsOfDeliveries(evidence);
  const ofEvent = (eventId: string) => deliveries.get(eventId) ?? [];
  const facts = (list: readonly (readonly [id: string, facts: readonly Fact[]])[]) => list;
  const received = groupBy(records(evidence, "webhook.received"), ({ key, data }) => `${key} ${data.delivery_id}`);
  return new Map([
    ...facts(
      succeeded(evidence, "upload").map(({ answer }) => [answer.image, factsOfImage(answer.image, evidence, ofEvent)]),
    ),
    ...facts(succeeded(evidence, "create-key").map(({ answer }) => [answer.key, factsOfKey(answer.key, evidence)])),
    ...facts(
      succeeded(evidence, "publish").map(({ value: { event } }) => [
        event,
        [says("arrived for delivery", event), ...ofEvent(event)],
      ]),
    ),
    ...facts(
      webhooks.map(({ source, delivery, received: id }) => {
        const eventIds = new Set(received.get(`${source} ${delivery}`)?.map(({ eventId }) => eventId));
        return [id, [says("was accepted by the source", id), ...[...eventIds].flatMap(ofEvent)]];
      }),
    ),
    ...facts(
      replays
        .filter(({ id }) => succeeded(evidence, "start-replay").some(({ answer }) => answer.replay === id))
        .map(({ id, total, replayed }) => [
          id,
          [says(`A replay of ${total} deliveries`, id), says(`${replayed} of ${total} deliveries are queued`, id)],
        ]),
    ),
    ...facts(
      succeeded(evidence, "patch-image").map(({ value, answer }) => [
        answer.request,
        [says("image.update", value.image)],
      ]),
    ),
    ...facts(
      [...groupBy(tellingReceipts(evidence), ({ deliveryId }) => deliveryId)].map(([id, all]) => [id, factsOf(all)]),
    ),
  ]);
}

/** The receipts at endpoints that still exist: the deliveries of deleted ones are not shown. */
const tellingReceipts = ({ received, endpoints, accounts }: Evidence): Receipt[] =>
  received.filter(({ endpoint, status }) => {
    const fate = endpoints[endpoint];
    return status === 200 && fate !== undefined && fate.account in accounts && fate.deletedAt === null;
  });

/** A delivery that arrived was created, and has an attempt that was answered. */
function factsOf([receipt]: readonly Receipt[]): Fact[] {
  if (receipt === undefined) return [];
  const { deliveryId } = receipt;
  const isTaken = (step: ChainStep) =>
    attemptIn(step).some(({ delivery, status }) => delivery === deliveryId && status === "200");
  return [
    says("A delivery of ", deliveryId),
    { fact: `an attempt of ${deliveryId} that was answered with 200`, isIn: (steps) => steps.some(isTaken) },
  ];
}

const factsOfDeliveries = (evidence: Evidence): Map<string, Fact[]> =>
  new Map(
    [...groupBy(tellingReceipts(evidence), ({ eventId }) => eventId)].map(([eventId, all]) => [
      eventId,
      [...groupBy(all, ({ deliveryId }) => deliveryId).values()].flatMap(factsOf),
    ]),
  );

const eventsOfImage = ({ log }: Evidence, image: string) =>
  distinct(log).filter(({ topic, key }) => topic === "signalbox.image.v1" && key === image);

/** The two newest of those shown may have the time of the next one, and be left out for it. */
const safelyShown = eventsShown - 2;

function factsOfImage(image: string, evidence: Evidence, ofEvent: (eventId: string) => readonly Fact[]): Fact[] {
  const state = stateOfImage(image, evidence);
  const created = says("image.create.", image);
  const creation = { ...created, isIn: (steps: readonly ChainStep[]) => created.isIn(steps) || isFull(steps) };
  const events = eventsOfImage(evidence, image).slice(-safelyShown);
  return [
    state,
    creation,
    ...events.flatMap(({ eventId }) => [says("arrived for delivery", eventId), ...ofEvent(eventId)]),
  ];
}

/** A deletion that was not answered may have happened. */
function stateOfImage(image: string, evidence: Evidence): Fact {
  const deletions = possible(evidence, "delete-image").filter(({ value }) => value.image === image);
  const [stored, deleted] = [says("The image was stored.", image), says("The image was deleted.", image)];
  if (deletions.length === 0) return stored;
  if (deletions.some(({ outcome }) => outcome === "ok")) return deleted;
  return { fact: `${stored.fact}, or its deletion`, isIn: (steps) => stored.isIn(steps) || deleted.isIn(steps) };
}

function factsOfKey(key: string, evidence: Evidence): Fact[] {
  const isRevoked = evidence.revokedKeys.includes(key);
  const created = [says("The key was created.", key), says("api_key.create", key)];
  return isRevoked ? [...created, says("The key was revoked.", key), says("api_key.revoke", key)] : created;
}
