import { createHmac, randomBytes } from "node:crypto";
import { AppError } from "@signalbox/core";
import type { HandshakeAnswer, SchemeName } from "@signalbox/webhook-signatures";
import type { RejectionFigures } from "../rejections/rejection.ts";
import { isLiveAddress, type Source, sourceFrom } from "../sources/source.ts";
import { type CachedSource, cachedSource, type SourceCache } from "../sources/source-cache.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";
import { type DecodedWebhook, decodeBody, type Webhook } from "./decode-body.ts";
import type { DeliveryWriter } from "./delivery-writer.ts";
import { type Judge, type Judgement, judgeByKeys } from "./judge-webhook.ts";
import { figuresOf } from "./rejection-figures.ts";

export type ReceiveOutcome = (
  | Exclude<Judgement, { delivery: unknown }>
  | { readonly outcome: "received" | "repeated"; readonly answer: CustomAnswer | undefined }
) & {
  /** Null for an unknown source. */
  readonly scheme: SchemeName | null;
  /** Set when the source keeps refused webhooks: the headers that prove the sender, besides the usual ones. */
  readonly kept?: { readonly proofHeaders: readonly string[] } | null;
  /** Finds the figures of a refusal by a known source. */
  readonly figures?: () => RejectionFigures;
};

interface Dependencies {
  readonly judge: Judge;
  readonly knownSources: SourceCache;
  /** Counts the webhook; returns false beyond the source's rate. */
  readonly isWithinRate: (source: Source) => boolean;
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly metrics: { observeVerification(scheme: SchemeName, seconds: number): void };
}

/** Stands in for an unknown source. Its secret is random, so nothing is ever verified by it. */
const unknownSource = cachedSource(
  sourceFrom(
    { name: "", scheme: "hmac", eventTypes: null, forward: false, settings: {}, secret: "", verifyToken: null },
    "",
    new Date(0),
  ),
  { current: randomBytes(32).toString("hex"), former: [], verifyToken: null },
);
/** Refusals that needed a hash of the body. */
const foundByHashing: ReadonlySet<string> = new Set(["signature_mismatch", "timestamp_too_old", "timestamp_in_future"]);

/** A source that changes more often than this during one webhook is being changed in a loop. */
const triesMax = 4;

/**
 * Creates the operation that accepts a partner's webhook: judged by the source in memory, and stored once, together
 * with its event. After "received" the sender may forget it. A stale copy never refuses a webhook: before a refusal the
 * source is read again, and so is a copy that proves stale on write.
 */
export function createReceiveWebhook(dependencies: Dependencies) {
  const { judge, knownSources, isWithinRate, deliveryWriter, metrics } = dependencies;
  const { clock } = judge;

  /** Judges the webhook, in the same time for an unknown source, and measures that time. */
  async function judged(webhook: DecodedWebhook, known: CachedSource): Promise<Judgement> {
    const startedMs = clock.steadyMs();
    const judgement = await judgeByKeys(judge, webhook, known);
    const isUnverified = "outcome" in judgement && ["not-verified", "hidden"].includes(judgement.outcome);
    // A refusal without a hash takes as long as one with it, so that its time reveals neither a source nor its scheme.
    if (isUnverified && "reason" in judgement && !foundByHashing.has(judgement.reason)) dummyHash(webhook.body);
    metrics.observeVerification(known.source.scheme, (clock.steadyMs() - startedMs) / 1_000);
    return judgement;
  }

  /** Judges the webhook by a copy of its source, or by none. */
  async function judgedBy(known: CachedSource | null, webhook: DecodedWebhook): Promise<Judgement> {
    if (known !== null && isLiveAddress(known.source, webhook.address, clock.nowMs())) return judged(webhook, known);
    // Takes the time of a known source, so that the time of a refusal does not reveal an id.
    await judged(webhook, unknownSource);
    return { outcome: "unknown-source" };
  }

  const isConfirmed = async ({ confirmUrl }: HandshakeAnswer): Promise<boolean> =>
    confirmUrl === undefined || judge.certificates.confirm(confirmUrl);

  return async function receiveWebhook(posted: Omit<Webhook, "sourceId">): Promise<ReceiveOutcome> {
    const sourceId = await knownSources.idAt(posted.address);
    let source = await knownSources.find(sourceId);
    const decoding = await decodeBody(posted.body, posted.headers["content-encoding"], judge.webhookBytesMax());
    const webhook = { ...posted, sourceId, decoding };
    let isCounted = false;
    for (let tries = 0; tries < triesMax; tries++) {
      const judgement = await judgedBy(source, webhook);
      if ("delivery" in judgement) {
        const { scheme, settings } = judgement.delivery.source;
        if (!isCounted && !isWithinRate(judgement.delivery.source))
          return { outcome: "too-many", reason: "rate_exceeded", scheme };
        // Counted once, however often it is judged.
        isCounted = true;
        const outcome = await deliveryWriter.write(judgement.delivery);
        if (outcome !== "stale") return { outcome, scheme, answer: settings.answer };
        source = await knownSources.reread(sourceId);
        continue;
      }
      const current = await knownSources.current(sourceId);
      if (current === source) {
        if (current === null) return { ...judgement, scheme: null };
        const { proofHeaders = [] } = current.scheme;
        const kept = current.source.settings.keepRejectedBodies ? { proofHeaders } : null;
        const signedSeconds = "signedSeconds" in judgement ? (judgement.signedSeconds ?? null) : null;
        const figures = () => figuresOf(judge, webhook, current, signedSeconds);
        const isUnconfirmed = judgement.outcome === "challenged" && !(await isConfirmed(judgement.answer));
        if (isUnconfirmed)
          return { outcome: "keys-away", reason: "confirmation_failed", scheme: current.source.scheme, figures };
        return { ...judgement, scheme: current.source.scheme, kept, figures };
      }
      source = current;
    }
    throw new AppError("unavailable", "The source is being changed. Try again.", { retryAfterSeconds: 1 });
  };
}

const dummyHash = (body: Buffer): void =>
  void createHmac("sha256", unknownSource.secrets.current).update(body).digest();
