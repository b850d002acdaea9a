import type { IncomingHttpHeaders } from "node:http";
import type { Headers } from "../receiving/request-headers.ts";
import type { RejectionFigures } from "./rejection-figures.ts";

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
