import { createHmac, randomBytes } from "node:crypto";
import { AppError, seconds } from "@signalbox/core";
import type { HandshakeAnswer, SchemeName } from "@signalbox/webhook-signatures";
import type { IngestService } from "../context/ingest-service.ts";
import { type DecodedWebhook, decodeBody, type PostedWebhook } from "../judging/decode-body.ts";
import { type Judgement, judgeWebhook } from "../judging/judge-webhook.ts";
import { originOf } from "../reconciling/missed-store.ts";
import { figuresOf, type RejectionFigures } from "../rejections/rejection.ts";
import { isLiveAddress, type Source, sourceFrom } from "../sources/source.ts";
import { type CachedSource, cachedSource } from "../sources/source-row.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";

export type ReceiveOutcome = (
  | Exclude<Judgement, { outcome: "accepted" }>
  | { readonly outcome: "received" | "repeated"; readonly answer: CustomAnswer | undefined }
) & {
  /** Null for an unknown source. */
  readonly scheme: SchemeName | null;
  /** Set when the source keeps refused webhooks: the headers that prove the sender, besides the usual ones. */
  readonly kept?: { readonly proofHeaders: readonly string[] } | null;
  readonly figures?: () => RejectionFigures;
};

/** Stands in for an unknown source. Its secret is random, so nothing is ever verified by it. */
const nobody = { name: "", scheme: "hmac", eventTypes: null, forward: false, settings: {}, secret: "" } as const;
const noPreset = { verifyToken: null, preset: null, presetVersion: null };
const unknownSource = cachedSource(sourceFrom({ ...nobody, ...noPreset }, "", new Date(0)), {
  current: randomBytes(32).toString("hex"),
  former: [],
  verifyToken: null,
});
/** Refusals that needed a hash of the body. */
const foundByHashing: ReadonlySet<string> = new Set(["signature_mismatch", "timestamp_too_old", "timestamp_in_future"]);

/** A source that changes more often than this during one webhook is being changed in a loop. */
const triesMax = 4;

/** Judges a webhook by its source in memory, and stores it once. No stale copy of the source refuses one. */
export async function receiveWebhook(
  service: IngestService,
  posted: Omit<PostedWebhook, "sourceId">,
  requestId: string | null = null,
): Promise<ReceiveOutcome> {
  const { sourceCache, configuration } = service;
  const sourceId = await sourceCache.idAt(posted.address);
  let source = await sourceCache.find(sourceId);
  const bytesMax = configuration.get("limits.maxWebhookBytes");
  const decoding = await decodeBody(posted.body, posted.headers["content-encoding"], bytesMax);
  const webhook = { ...posted, sourceId, decoding };
  let isCounted = false;
  for (let tries = 0; tries < triesMax; tries++) {
    const judgement = await judge(service, source, webhook);
    if (judgement.outcome === "accepted") {
      const { scheme, settings } = judgement.webhook.source;
      if (!isCounted && !isWithinRate(service, judgement.webhook.source))
        return { outcome: "too-many", reason: "rate_exceeded", scheme };
      // Counted once, however often it is judged.
      isCounted = true;
      const origin = await originOf(service, judgement.webhook);
      const outcome = await service.webhookWriter.write({ ...judgement.webhook, origin }, requestId);
      if (outcome !== "stale") return { outcome, scheme, answer: settings.answer };
      source = await sourceCache.reread(sourceId);
      continue;
    }
    const current = await sourceCache.current(sourceId);
    if (current === source) return refusalBy(service, current, webhook, judgement);
    source = current;
  }
  throw new AppError("unavailable", "The source is being changed. Try again.", { retryAfterSeconds: 1 });
}

async function judge(service: IngestService, known: CachedSource | null, webhook: DecodedWebhook): Promise<Judgement> {
  if (known !== null && isLiveAddress(known.source, webhook.address, service.clock.nowMs()))
    return judgeMeasured(service, webhook, known);
  // Takes the time of a known source, so that the time of a refusal does not reveal an id.
  await judgeMeasured(service, webhook, unknownSource);
  return { outcome: "unknown-source" };
}

/** Judges the webhook, in the same time for an unknown source, and measures that time. */
async function judgeMeasured(service: IngestService, webhook: DecodedWebhook, known: CachedSource): Promise<Judgement> {
  const { clock, receivingMetrics } = service;
  const startedMs = clock.steadyMs();
  const judgement = await judgeWebhook(service, webhook, known);
  const isUnverified = judgement.outcome === "not-verified" || judgement.outcome === "hidden";
  // A refusal without a hash takes as long as one with it, so that its time reveals neither a source nor its scheme.
  if (isUnverified && !foundByHashing.has(judgement.reason)) dummyHash(webhook.body);
  receivingMetrics.observeVerification(known.source.scheme, (clock.steadyMs() - startedMs) / 1_000);
  return judgement;
}

/** Counts a verified webhook: false beyond the source's rate. A stranger can neither use it up nor see it. */
function isWithinRate({ limiterOf }: IngestService, { id, settings: { rate } }: Source): boolean {
  if (rate === undefined) return true;
  return limiterOf({ name: `ingest-rate-${rate}`, limit: rate, windowMs: seconds(1) }).take(id).allowed;
}

/** Turns what the newest copy of the source refuses into the outcome, with what its owner is shown of it. */
async function refusalBy(
  service: IngestService,
  known: CachedSource | null,
  webhook: DecodedWebhook,
  judgement: Exclude<Judgement, { outcome: "accepted" }>,
): Promise<ReceiveOutcome> {
  if (known === null) return { ...judgement, scheme: null };
  const { scheme, settings } = known.source;
  const signedSeconds = "signedSeconds" in judgement ? (judgement.signedSeconds ?? null) : null;
  const figures = () => figuresOf(service, webhook, known, signedSeconds);
  if (judgement.outcome === "challenged" && !(await isConfirmed(service, judgement.answer)))
    return { outcome: "keys-away", reason: "confirmation_failed", scheme, figures };
  const { proofHeaders = [] } = known.scheme;
  return { ...judgement, scheme, kept: settings.keepRejectedBodies ? { proofHeaders } : null, figures };
}

const isConfirmed = async ({ certificateCache }: IngestService, { confirmUrl }: HandshakeAnswer): Promise<boolean> =>
  confirmUrl === undefined || certificateCache.confirm(confirmUrl);

const dummyHash = (body: Buffer): void =>
  void createHmac("sha256", unknownSource.secrets.current).update(body).digest();
