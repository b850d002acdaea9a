import type { Claim } from "@signalbox/webhook-signatures";
import type { Source } from "../sources/source.ts";

/** A webhook that was verified and is about to be stored. */
export interface Delivery {
  readonly id: string;
  /** The source as it was when the webhook was verified: a later revision makes the verification void. */
  readonly source: Source;
  /** As the partner names it, unique per source; see `deliveryWriter` for a name that comes again with other content. */
  readonly deliveryId: Claim;
  /** Whoever captured it could give it another id: its scheme or source names deliveries where no signature covers it. */
  readonly mayBeRenamed: boolean;
  readonly eventType: Claim | null;
  readonly contentType: string | null;
  /** Every header as it came, signatures and credentials masked. */
  readonly headers: Headers;
  /** The bytes as they were signed. */
  readonly body: Buffer;
  readonly payload: Payload;
  /** Seconds, where the scheme signs a time. */
  readonly signedSeconds: number | null;
  readonly receivedAt: Date;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/**
 * The body for those who read the event. `json` is the text itself, so that no digit of a number is lost; `form` is the body
 * that it was read from, where it was a form.
 */
export type Payload =
  | { readonly json: string; readonly form?: string }
  | { readonly text: string }
  | { readonly bytes: Buffer };
