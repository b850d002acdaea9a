import { timeOfPublicId } from "@signalbox/core";
import { eventsAbout, expiredReason, hasPrefix, linkTo, stepsOf, type WhyFinder } from "@signalbox/service";
import type { IngestService } from "../context/ingest-service.ts";
import { findOwnRejection } from "../rejections/rejection-store.ts";
import { webhooksRead } from "../sources/own-source.ts";
import { findSource } from "../sources/source-store.ts";
import { findOwnReceived, keptSince } from "./received-store.ts";
import { findRepetitions } from "./repetitions.ts";

const step = stepsOf("webhook-ingest");
const linkOf = (sourceId: string) => `/api/v1/webhooks/sources/${sourceId}`;

/** Builds the finder of the ids with a prefix. */
export const finderOf = (
  prefix: string,
  find: (accountId: string, id: string) => ReturnType<WhyFinder["find"]>,
): WhyFinder => ({ ...webhooksRead, knows: hasPrefix(prefix), find: ({ accountId }, id) => find(accountId, id) });

/** Finds what became of received and of refused webhooks, and of their sources, for the chain behind an id. */
export const whyReceived = (service: IngestService): readonly WhyFinder[] => [
  {
    ...finderOf("rcv", async (accountId, id) => {
      const [webhook] = await findOwnReceived(service.pool, accountId, [id]);
      if (!webhook) return null;
      const { sourceId, deliveryId, eventType, receivedAt, forwarded, origin } = webhook;
      const what = `The webhook ${deliveryId} of type ${eventType ?? "unknown"} was accepted by the source ${sourceId}.`;
      const missed = "reconciled: missed when it was sent, recovered from the sender's list";
      const reason = origin === "reconciled" ? missed : null;
      const received = step({ at: receivedAt, id, what, reason, link: `${linkOf(sourceId)}/received/${id}` });
      if (forwarded) return { steps: [received], next: [eventsAbout(id)] };
      const notSent = { what: "It was kept, and no endpoint gets it.", reason: "not sent: forward is off" };
      return { steps: [received, step({ at: receivedAt, ...notSent })], next: [] };
    }),
    missing: (id) => goneStep(service, id),
  },
  finderOf("rej", async (accountId, id) => {
    const rejection = await findOwnRejection(service.pool, accountId, id);
    if (!rejection) return null;
    const { sourceId, reason, status, rejectedAt, receivedId } = rejection;
    const what = `A webhook was refused by the source ${sourceId} with ${status}.`;
    const link = `${linkOf(sourceId)}/rejections/${id}`;
    const refused = step({ at: rejectedAt, id, what, verdict: "refused", reason, link });
    return { steps: [refused], next: receivedId === null ? [] : [linkTo(receivedId), eventsAbout(receivedId)] };
  }),
  finderOf("src", async (accountId, id) => {
    const source = await findSource(service, accountId, id);
    if (source === null) return null;
    const created = step({ at: source.createdAt, id, what: "The source was created.", link: linkOf(id) });
    return { steps: [created], next: [] };
  }),
];

/** The hole in the place of a received webhook that a delivery or a rejection leads to. */
function goneStep(service: IngestService, id: string) {
  const ms = timeOfPublicId(id) ?? 0;
  const keepMs = service.configuration.get("webhook-ingest.received.retention");
  const reason = ms < keptSince(service) ? expiredReason(ms, keepMs) : "its source was deleted";
  return step({ at: new Date(ms), id, what: "The received webhook is not kept any more.", verdict: "hole", reason });
}

const isOwnId = hasPrefix("rcv", "rej", "src", "rpl", "rtr");

/** Finds the webhook that the request of a repetition leads to. */
export const whyRepeated = ({ pool }: IngestService): WhyFinder => ({
  ...webhooksRead,
  knows: (id) => !isOwnId(id),
  async find({ accountId }, id) {
    const repetitions = await findRepetitions(pool, accountId, id);
    if (repetitions.length === 0) return null;
    const steps = repetitions.map(({ sourceId, receivedId, at }) => {
      const what = `A webhook of the source ${sourceId} was answered 202 and had no effect: ${receivedId} is the same one.`;
      return step({ at, id, what, reason: "repeated", link: `${linkOf(sourceId)}/received/${receivedId}` });
    });
    return { steps, next: repetitions.map(({ receivedId }) => linkTo(receivedId)) };
  },
});
