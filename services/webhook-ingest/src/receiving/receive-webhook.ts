import { createHmac, randomBytes } from "node:crypto";
import { AppError } from "@signalbox/core";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { type KnownSource, type KnownSources, knownSource } from "../sources/known-sources.ts";
import { isLiveAddress, type Source, sourceFrom } from "../sources/source.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";
import { decodeBody } from "./decode-body.ts";
import type { DeliveryWriter } from "./delivery-writer.ts";
import { judgeByKeys } from "./judge-against-source.ts";
import type { DecodedWebhook, Judge, Judgement, Webhook } from "./judge-webhook.ts";

export type ReceiveOutcome = (
  | Exclude<Judgement, { delivery: unknown }>
  | { readonly outcome: "received" | "repeated"; readonly answer: CustomAnswer | undefined }
) & {
  /** Null for a source that is not there. */
  readonly scheme: SchemeName | null;
  /** Where the source wants to have what it refuses: the headers that prove who sent it, besides the usual ones. */
  readonly kept?: { readonly proofHeaders: readonly string[] } | null;
};

interface Dependencies extends Judge {
  readonly webhookBytesMax: () => number;
  readonly knownSources: KnownSources;
  /** Counts the webhook. */
  readonly isWithinRate: (source: Source) => boolean;
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly metrics: { observeVerification(scheme: SchemeName, seconds: number): void };
}

/** Stands in for a source that does not exist. Nobody knows its secret, so nothing is ever verified by it. */
const unknownSource = knownSource(
  sourceFrom({ name: "", scheme: "hmac", eventTypes: null, forward: false, settings: {} }, "", new Date(0)),
  { current: randomBytes(32).toString("hex"), former: [], verifyToken: null },
);
/** Refusals that took a hash of the body to find. */
const foundByHashing: ReadonlySet<string> = new Set(["signature_mismatch", "timestamp_too_old", "timestamp_in_future"]);

/** A source that changes more often than this while one webhook is taken is being changed by a loop. */
const triesMax = 4;

/**
 * Takes one webhook of a partner: judged by the source as it is known in memory, stored uniquely together with its event.
 * Whoever is told "received" can forget it. What a copy says that may be stale never turns anybody away: the source is read
 * again first, and a copy that is stale when it is written by, too.
 */
export function createReceiveWebhook(dependencies: Dependencies) {
  const { clock, knownSources, isWithinRate, deliveryWriter, webhookBytesMax, metrics } = dependencies;

  /** Judges as quickly for nobody's source, and notes how long it took. */
  async function judged(webhook: DecodedWebhook, known: KnownSource): Promise<Judgement> {
    const startedMs = clock.steadyMs();
    const judgement = await judgeByKeys(dependencies, webhook, known);
    const isUnverified = "outcome" in judgement && ["not-verified", "hidden"].includes(judgement.outcome);
    // A refusal that needs no hash is as slow as one that does: by its time nobody tells a source, or its scheme.
    if (isUnverified && "reason" in judgement && !foundByHashing.has(judgement.reason)) dummyHash(webhook.body);
    metrics.observeVerification(known.source.scheme, (clock.steadyMs() - startedMs) / 1_000);
    return judgement;
  }

  return async function receiveWebhook(received: Webhook): Promise<ReceiveOutcome> {
    let source = await knownSources.find(received.sourceId);
    const decoding = await decodeBody(received.body, received.headers["content-encoding"], webhookBytesMax());
    const webhook = { ...received, decoding };
    const judge = async (known: KnownSource | null): Promise<Judgement> => {
      if (known === null || !isLiveAddress(known.source, webhook.address, clock.nowMs())) {
        // Takes the time of a source that is there: an id must not be told by how long its refusal takes.
        await judged(webhook, unknownSource);
        return { outcome: "unknown-source" };
      }
      return judged(webhook, known);
    };
    let isCounted = false;
    for (let tries = 0; tries < triesMax; tries++) {
      const judgement = await judge(source);
      if ("delivery" in judgement) {
        const { scheme, settings } = judgement.delivery.source;
        if (!isCounted && !isWithinRate(judgement.delivery.source))
          return { outcome: "too-many", reason: "rate_exceeded", scheme };
        // Once, however often it has to be judged.
        isCounted = true;
        const outcome = await deliveryWriter.write(judgement.delivery);
        if (outcome !== "stale") return { outcome, scheme, answer: settings.answer };
        source = await knownSources.reread(webhook.sourceId);
        continue;
      }
      const current = await knownSources.current(webhook.sourceId);
      if (current === source) {
        if (current === null) return { ...judgement, scheme: null };
        const { proofHeaders = [] } = current.scheme;
        const kept = current.source.settings.keepRejectedBodies ? { proofHeaders } : null;
        return { ...judgement, scheme: current.source.scheme, kept };
      }
      source = current;
    }
    throw new AppError("unavailable", "The source is being changed. Try again.", { retryAfterSeconds: 1 });
  };
}

const dummyHash = (body: Buffer): void =>
  void createHmac("sha256", unknownSource.secrets.current).update(body).digest();
