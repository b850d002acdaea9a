import type { IncomingHttpHeaders } from "node:http";
import { draft } from "@signalbox/contracts";
import type { SchemeName } from "@signalbox/webhook-signatures";
import type { Headers } from "../sources/request-headers.ts";

/** A refused webhook: enough to find the mistake, and its content if the source keeps that. */
export interface Rejection {
  readonly id: string;
  readonly sourceId: string;
  /** A stable word, such as `signature_mismatch` or `timestamp_too_old`. */
  readonly reason: string;
  /** Status of the answer to the partner. */
  readonly status: number;
  readonly bodyBytes: number;
  readonly address: string;
  readonly rejectedAt: Date;
  /** True when the whole webhook is kept and can be verified again. */
  readonly isKept: boolean;
  /** The received webhook that a retry created. */
  readonly receivedId: string | null;
  /** Null for a webhook that was refused before it was read. */
  readonly figures: RejectionFigures | null;
}

/** Figures of a refusal that show its cause without a secret or a signature. */
export interface RejectionFigures {
  /** The time that the sender signed, as the request has it; nothing proves it. */
  readonly signedAt: string | null;
  /** Seconds from then to the arrival; negative for a time in the future. */
  readonly ageSeconds: number | null;
  readonly toleranceSeconds: number;
  /** The scheme of the source. */
  readonly expected: SchemeName;
  /** The scheme that the headers show; null for none. */
  readonly found: SchemeName | null;
  /** Names of headers that the scheme reads. */
  readonly headersSeen: readonly string[];
  readonly headersMissing: readonly string[];
}

/** A webhook as it came, with its signature. */
export interface RejectedWebhook {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
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

/** Returns the rejection as its owner sees it in lists, with the URL that explains a webhook of the source. */
export function viewRejection(rejection: Rejection, verifyUrl: string) {
  const { figures } = rejection;
  return {
    id: rejection.id,
    reason: rejection.reason,
    status: rejection.status,
    body_bytes: rejection.bodyBytes,
    address: rejection.address,
    kept: rejection.isKept,
    received_id: rejection.receivedId,
    signed_at: figures?.signedAt ?? null,
    age_seconds: figures?.ageSeconds ?? null,
    tolerance_seconds: figures?.toleranceSeconds ?? null,
    expected: figures?.expected ?? null,
    found: figures?.found ?? null,
    headers_seen: [...(figures?.headersSeen ?? [])],
    headers_missing: [...(figures?.headersMissing ?? [])],
    verify_url: verifyUrl,
    rejected_at: rejection.rejectedAt.toISOString(),
  };
}

/** Creates the event that reports a rejection. */
export function rejectedEvent(accountId: string, rejection: Rejection, verifyUrl: string) {
  const { received_id: _, ...shown } = viewRejection(rejection, verifyUrl);
  const data = { source_id: rejection.sourceId, ...shown };
  return draft("webhook.rejected", { subject: rejection.sourceId, accountId, data });
}
