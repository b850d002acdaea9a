import type { Evidence, Invariant, Receipt } from "../evidence.ts";
import { publishedType } from "../scene.ts";
import { groupBy, operations, possible, succeeded } from "./look-up.ts";

export const publishedOnce: Invariant = {
  name: "published-once",
  sentence: "An event that an account publishes is delivered once, and one that its type refuses is never there.",
  violations: (evidence) => [...unpublished(evidence), ...wronglyPublished(evidence)],
};

function unpublished(evidence: Evidence): string[] {
  const { publications, received, endpoints } = evidence;
  const stored = new Set(publications.map(({ event }) => event));
  const taken = new Set(
    received.filter(({ status }) => status === 200).map(({ endpoint, eventId }) => `${endpoint} ${eventId}`),
  );
  const wanting = (account: string) =>
    Object.entries(endpoints).filter(([, one]) => one.account === account && one.types.includes(publishedType.name));
  return succeeded(evidence, "publish").flatMap(({ value: { account, event } }) => [
    ...(stored.has(event) ? [] : [`${event} was accepted and has no delivery`]),
    ...wanting(account)
      .filter(([endpoint]) => !taken.has(`${endpoint} ${event}`))
      .map(([endpoint]) => `${endpoint} never took ${event}`),
  ]);
}

function wronglyPublished(evidence: Evidence): string[] {
  const { publications, received, endpoints, accounts } = evidence;
  const asked = operations(evidence, "publish");
  const mayBe = new Set(possible(evidence, "publish").flatMap(({ value }) => (value.fits ? [value.event] : [])));
  const there = [
    ...publications.map(({ event }) => event),
    ...received
      .filter(({ type, endpoint }) => type === publishedType.name && (endpoints[endpoint]?.account ?? "") in accounts)
      .map(({ eventId }) => eventId),
  ];
  return [
    ...publications.filter(({ deliveries }) => deliveries > 1).map(({ event }) => `${event} has two deliveries`),
    ...[...new Set(there)].filter((event) => !mayBe.has(event)).map((event) => `${event} is there and must not be`),
    ...asked
      .filter(({ value, outcome }) => outcome === (value.fits ? "fail" : "ok"))
      .map(({ value, answer }) => `${value.event} was answered ${answer.status}`),
  ];
}

export const carriedAsWritten: Invariant = {
  name: "carried-as-written",
  sentence:
    "The JSON of a publisher and of a partner is received with the bytes with which it was sent, replays included.",
  violations: (evidence) => {
    const published = new Map(
      operations(evidence, "publish").map(({ value }) => [value.event, `"data":${value.data},`]),
    );
    const posted = operations(evidence, "webhook").map(({ value }) => value);
    const payloads = new Map(posted.map(({ delivery, payload }) => [delivery, `"payload":${payload}`]));
    const wanted = ({ type, eventId, body }: Receipt): string | undefined =>
      type === "webhook.received" ? payloads.get(JSON.parse(body).data.delivery_id) : published.get(eventId);
    return evidence.received
      .filter((receipt) => !receipt.body.includes(wanted(receipt) ?? ""))
      .map((receipt) => `${receipt.endpoint} got ${receipt.eventId} with other bytes than ${wanted(receipt)}`);
  },
};

export const replayedOnce: Invariant = {
  name: "replayed-once",
  sentence: "A replay that is asked for runs once, to its end, and every delivery that it counted is received again.",
  violations: (evidence) => {
    const { replays, received } = evidence;
    const known = new Set(replays.map(({ id }) => id));
    const started = succeeded(evidence, "start-replay").map(({ answer }) => answer.replay);
    const unanswered = possible(evidence, "start-replay").length - started.length;
    const extra = replays.filter(({ id }) => !started.includes(id));
    const receipts = groupBy(
      received.filter(({ replay, status }) => replay !== null && status === 200),
      ({ replay }) => String(replay),
    );
    return [
      ...started.filter((id) => !known.has(id)).map((id) => `the replay ${id} is not there`),
      ...(extra.length > unanswered ? [`unrequested replays: ${extra.map(({ id }) => id).join(", ")}`] : []),
      ...replays.flatMap(({ id, status, total, replayed }) => {
        const taken = new Set(receipts.get(id)?.map(({ eventId }) => eventId)).size;
        const isWhole = status === "done" && replayed >= total && taken === replayed;
        return isWhole ? [] : [`the replay ${id} is ${status}: ${total} wanted, ${replayed} replayed, ${taken} taken`];
      }),
    ];
  },
};
