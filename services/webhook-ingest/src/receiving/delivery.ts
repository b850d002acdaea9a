import type { Claim } from "@signalbox/webhook-signatures";
import type { Source } from "../sources/source.ts";

/** A verified webhook that is about to be stored. */
export interface Delivery {
  readonly id: string;
  /** The source at the time of the verification; a later revision voids the verification. */
  readonly source: Source;
  /**
   * Delivery id of the partner, unique per source. `DeliveryWriter` renames one that comes again with other content.
   */
  readonly deliveryId: Claim;
  /** True when no signature covers the id, so that a captured webhook could be sent again under another one. */
  readonly isIdForgeable: boolean;
  readonly eventType: Claim | null;
  readonly contentType: string | null;
  /** All headers as they came, signatures and credentials masked. */
  readonly headers: Headers;
  /** The bytes that the signature covers. */
  readonly body: Buffer;
  readonly payload: Payload;
  /** Signed time in seconds; null when the scheme signs none. */
  readonly signedSeconds: number | null;
  readonly receivedAt: Date;
}

export type Headers = Readonly<Record<string, string | readonly string[]>>;

/**
 * The body in the event. `json` is the original text, so that no digit of a number is lost; `form` is the form that it
 * was read from.
 */
export type Payload =
  | { readonly json: string; readonly form?: string }
  | { readonly text: string }
  | { readonly bytes: Buffer };
