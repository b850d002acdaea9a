import { draft, viewOf, WebhookRejectionResource } from "@signalbox/contracts";
import { guessScheme, schemeDefaults } from "@signalbox/webhook-signatures";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import type { Rejection as Row } from "../generated/prisma/client.ts";
import type { PostedWebhook } from "../judging/decode-body.ts";
import { toleranceSecondsOf } from "../judging/judge-webhook.ts";
import { type Headers, observed } from "../sources/request-headers.ts";
import type { CachedSource } from "../sources/source-row.ts";
import type { Camel } from "../sources/source-settings.ts";
import { verifyUrlOf } from "../sources/source-view.ts";

export const rejectionReason = z
  .string()
  .regex(/^[a-z_]{1,64}$/)
  .optional()
  .describe("Only rejections with this reason, such as `signature_mismatch`.");

/** A refusal as its route knows it; `sourceId` may be any address of the source. */
export type Refusal = Omit<Rejection, "id" | "rejectedAt" | "isKept" | "receivedId" | "figures">;

/** A refused webhook: enough to find the mistake, and its content if the source keeps that. */
export interface Rejection extends Omit<Row, "figures" | "headers" | "body" | "sealedProof"> {
  /** True when the whole webhook is kept and can be verified again. */
  readonly isKept: boolean;
  /** Null for a webhook that was refused before it was read. */
  readonly figures: RejectionFigures | null;
}

/** Figures of a refusal that show its cause without a secret or a signature. Nothing proves the signed time. */
export type RejectionFigures = Pick<Camel<z.output<typeof WebhookRejectionResource>>, keyof typeof noFigures>;

/** A webhook as it came, with its signature. */
export interface RejectedWebhook extends Omit<PostedWebhook, "sourceId" | "address"> {
  /** Headers that prove the sender, besides those recognized by their names. */
  readonly proofHeaders?: readonly string[];
}

/** A rejection with the kept part of its webhook; null when its source kept nothing. */
export interface RejectionInFull extends Rejection {
  /** Signatures and credentials masked. */
  readonly headers: Headers | null;
  /** The whole body, or its first bytes. */
  readonly body: Buffer | null;
}

/** The figures of a webhook that was refused before it was read. */
const noFigures = {
  signedAt: null,
  ageSeconds: null,
  toleranceSeconds: null,
  expected: null,
  found: null,
  headersSeen: [],
  headersMissing: [],
};

/** What its owner sees of a rejection besides: its figures, and the URL that explains a webhook of the source. */
export interface ShownRejection extends RejectionFigures {
  readonly kept: boolean;
  readonly verifyUrl: string;
}

/** Returns the rejection as its owner sees it. */
export const shownRejection = <R extends Rejection>(service: IngestService, rejection: R): R & ShownRejection => ({
  ...noFigures,
  ...rejection.figures,
  ...rejection,
  kept: rejection.isKept,
  verifyUrl: verifyUrlOf(service, rejection.sourceId),
});

export const viewRejection = viewOf(WebhookRejectionResource, (_: Rejection & ShownRejection) => ({}));

/** Times that a date can show. */
const secondsMax = 8_640_000_000_000;

/** Finds the figures of a refused webhook. The body is not looked at, so that this costs nothing that counts. */
export function figuresOf(
  service: IngestService,
  { method, url, headers }: PostedWebhook,
  { source, secrets, scheme }: CachedSource,
  signedSeconds: number | null,
): RejectionFigures {
  const nowMs = service.clock.nowMs();
  const toleranceSeconds = toleranceSecondsOf(service, source);
  const read = new Set<string>();
  const request = { method, url, headers: observed(headers, read), body: Buffer.alloc(0) };
  scheme.verify(request, { secrets: [secrets.current], nowSeconds: Math.floor(nowMs / 1_000), toleranceSeconds });
  const optional = { ...schemeDefaults(source.scheme), ...source.settings }.previousSignatureHeader;
  const names = [...read].sort();
  const isSeen = (name: string) => headers[name] !== undefined && headers[name] !== "";
  const seen = names.filter(isSeen);
  const missing = names.filter((name) => !isSeen(name) && name !== optional);
  const isWhole = seen.length > 0 && missing.length === 0;
  return {
    ...timesOf(signedSeconds, nowMs),
    toleranceSeconds,
    expected: source.scheme,
    found: isWhole ? source.scheme : guessScheme(headers),
    headersSeen: seen,
    headersMissing: missing,
  };
}

function timesOf(signedSeconds: number | null, nowMs: number) {
  if (signedSeconds === null || signedSeconds > secondsMax) return { signedAt: null, ageSeconds: null };
  const signedAt = new Date(signedSeconds * 1_000).toISOString();
  return { signedAt, ageSeconds: Math.round(nowMs / 1_000 - signedSeconds) };
}

export function rejectedEvent(service: IngestService, accountId: string, rejection: Rejection) {
  const { received_id: _, ...shown } = viewRejection(shownRejection(service, rejection));
  const { sourceId } = rejection;
  return draft("webhook.rejected", { subject: sourceId, accountId, data: { source_id: sourceId, ...shown } });
}
