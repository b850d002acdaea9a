import { timeOfPublicId } from "@signalbox/core";
import { eventsAbout, expiredReason, hasPrefix, linkTo, stepsOf, type WhyFinder } from "@signalbox/service";
import type { IngestService } from "../context/ingest-service.ts";
import { findOwnRejection } from "../rejections/rejection-store.ts";
import { webhooksRead } from "../sources/own-source.ts";
import { findSource } from "../sources/source-store.ts";
import { findOwnReceived, keptSince } from "./received-store.ts";
import { findRepetitions } from "./repetitions.ts";

const step = stepsOf("webhook-ingest");

/** Finds what became of received and of refused webhooks, and of their sources, for the chain behind an id. */
export const whyReceived = (service: IngestService): readonly WhyFinder[] => [
  {
    ...webhooksRead,
    knows: hasPrefix("rcv"),
    async find({ accountId }, id) {
      const [webhook] = await findOwnReceived(service.pool, accountId, [id]);
      if (!webhook) return null;
      const { sourceId, deliveryId, eventType, receivedAt, forwarded, origin } = webhook;
      const received = step({
        at: receivedAt,
        id,
        what: `The webhook ${deliveryId} of type ${eventType ?? "unknown"} was accepted by the source ${sourceId}.`,
        reason:
          origin === "reconciled" ? "reconciled: missed when it was sent, recovered from the sender's list" : null,
        link: `/api/v1/webhooks/sources/${sourceId}/received/${id}`,
      });
      const kept = step({
        at: receivedAt,
        what: "It was kept, and no endpoint gets it.",
        reason: "not sent: forward is off",
      });
      return forwarded ? { steps: [received], next: [eventsAbout(id)] } : { steps: [received, kept], next: [] };
    },
    missing: (id) => goneStep(service, id),
  },
  {
    ...webhooksRead,
    knows: hasPrefix("rej"),
    async find({ accountId }, id) {
      const rejection = await findOwnRejection(service.pool, accountId, id);
      if (!rejection) return null;
      const { sourceId, reason, status, rejectedAt, receivedId } = rejection;
      const refused = step({
        at: rejectedAt,
        id,
        what: `A webhook was refused by the source ${sourceId} with ${status}.`,
        verdict: "refused",
        reason,
        link: `/api/v1/webhooks/sources/${sourceId}/rejections/${id}`,
      });
      return { steps: [refused], next: receivedId === null ? [] : [linkTo(receivedId), eventsAbout(receivedId)] };
    },
  },
  {
    ...webhooksRead,
    knows: hasPrefix("src"),
    async find({ accountId }, id) {
      const source = await findSource(service, accountId, id);
      const link = `/api/v1/webhooks/sources/${id}`;
      return source && { steps: [step({ at: source.createdAt, id, what: "The source was created.", link })], next: [] };
    },
  },
];

/** The hole in the place of a received webhook that a delivery or a rejection leads to. */
function goneStep(service: IngestService, id: string) {
  const ms = timeOfPublicId(id) ?? 0;
  const keepMs = service.configuration.get("webhook-ingest.received.retention");
  return step({
    at: new Date(ms),
    id,
    what: "The received webhook is not kept any more.",
    verdict: "hole",
    reason: ms < keptSince(service) ? expiredReason(ms, keepMs) : "its source was deleted",
  });
}

const isOwnId = hasPrefix("rcv", "rej", "src", "rpl", "rtr");

/** Finds the webhook that the request of a repetition leads to. */
export const whyRepeated = ({ pool }: IngestService): WhyFinder => ({
  ...webhooksRead,
  knows: (id) => !isOwnId(id),
  async find({ accountId }, id) {
    const repetitions = await findRepetitions(pool, accountId, id);
    if (repetitions.length === 0) return null;
    const steps = repetitions.map(({ sourceId, receivedId, at }) =>
      step({
        at,
        id,
        what: `A webhook of the source ${sourceId} was answered 202 and had no effect: ${receivedId} is the same one.`,
        reason: "repeated",
        link: `/api/v1/webhooks/sources/${sourceId}/received/${receivedId}`,
      }),
    );
    return { steps, next: repetitions.map(({ receivedId }) => linkTo(receivedId)) };
  },
});
