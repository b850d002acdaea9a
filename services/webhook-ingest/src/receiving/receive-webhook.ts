import { randomBytes } from "node:crypto";
import { AppError } from "@signalbox/core";
import type { SchemeName } from "@signalbox/webhook-signatures";
import { type KnownSource, type KnownSources, knownSource } from "../sources/known-sources.ts";
import { isLiveAddress, sourceFrom } from "../sources/source.ts";
import type { CustomAnswer } from "../sources/source-settings.ts";
import { decodeBody } from "./decode-body.ts";
import type { DeliveryWriter } from "./delivery-writer.ts";
import { undecodedAs } from "./judge-as-is.ts";
import { type DecodedWebhook, type Judge, type Judgement, judgeWebhook, type Webhook } from "./judge-webhook.ts";

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
  readonly deliveryWriter: Pick<DeliveryWriter, "write">;
  readonly metrics: { observeVerification(scheme: SchemeName, seconds: number): void };
}

/** Stands for a source that is not there. Its secret is nobody's, so nothing is ever verified by it. */
const nobodysSource = knownSource(
  sourceFrom({ name: "", scheme: "hmac", eventTypes: null, forward: false, settings: {} }, "", new Date(0)),
  { current: randomBytes(32).toString("hex"), former: [], verifyToken: null },
  0,
);

/** A source that changes more often than this while one webhook is taken is being changed by a loop. */
const triesMax = 4;

/**
 * Takes one webhook of a partner: judged by the source as it is known in memory, stored uniquely together with its event.
 * Whoever is told "received" can forget it. What a copy says that may be stale never turns anybody away: the source is read
 * again first, and a copy that is stale when it is written by, too.
 */
export function createReceiveWebhook(dependencies: Dependencies) {
  const { clock, knownSources, deliveryWriter, webhookBytesMax, metrics } = dependencies;

  /** Judges as quickly for nobody's source, and notes how long it took. */
  function judged(webhook: DecodedWebhook, known: KnownSource): Judgement {
    const startedMs = clock.steadyMs();
    const judgement = judgeWebhook(dependencies, webhook, known);
    metrics.observeVerification(known.source.scheme, (clock.steadyMs() - startedMs) / 1_000);
    return judgement;
  }

  return async function receiveWebhook(received: Webhook): Promise<ReceiveOutcome> {
    let source = await knownSources.find(received.sourceId);
    const decoding = await decodeBody(received.body, received.headers["content-encoding"], webhookBytesMax());
    const undecoded = "problem" in decoding ? undecodedAs[decoding.problem] : null;
    const webhook = { ...received, decoded: "body" in decoding ? decoding.body : received.body };
    const judge = (known: KnownSource | null): Judgement => {
      if (known === null || !isLiveAddress(known.source, webhook.address, clock.nowMs())) {
        // Takes the time of a source that is there: an id must not be told by how long its refusal takes.
        judged(webhook, nobodysSource);
        return { outcome: "unknown-source" };
      }
      return undecoded ?? judged(webhook, known);
    };
    for (let tries = 0; tries < triesMax; tries++) {
      const judgement = judge(source);
      if ("delivery" in judgement) {
        const { scheme, settings } = judgement.delivery.source;
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
