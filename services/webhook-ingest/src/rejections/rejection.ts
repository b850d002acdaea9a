import type { IncomingHttpHeaders } from "node:http";
import type { Headers } from "../receiving/delivery.ts";

/** A webhook that was refused: enough to find the mistake, and what came of it where its source keeps that. */
export interface Rejection {
  readonly id: string;
  readonly sourceId: string;
  /** A stable word, such as `signature_mismatch` or `timestamp_too_old`. */
  readonly reason: string;
  /** What the partner was answered. */
  readonly status: number;
  readonly bodyBytes: number;
  readonly address: string;
  readonly rejectedAt: Date;
  /** Whether it is kept whole, and can be verified again. */
  readonly isKept: boolean;
  /** The received webhook that became of it later. */
  readonly receivedId: string | null;
}

/** A webhook as it came, with its proof. */
export interface RejectedWebhook {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Headers that prove who sent it besides those that are known by their names. */
  readonly proofHeaders?: readonly string[];
}

/** A rejection with what is kept of the webhook; null where its source kept nothing then. */
export interface RejectionInFull extends Rejection {
  /** Signatures and credentials masked. */
  readonly headers: Headers | null;
  /** The whole body, or its first bytes. */
  readonly body: Buffer | null;
}
