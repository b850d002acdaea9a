/** A request as it came: lower-case header names as Node gives them, and the raw bytes before anything read them. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** The reason why a request is not believed. Kept with the rejection; the sender is told 401 and no more. */
export type SignatureProblem =
  | "secret_unusable"
  | "signature_missing"
  | "signature_malformed"
  | "signature_mismatch"
  | "timestamp_missing"
  | "timestamp_malformed"
  | "timestamp_too_old"
  | "timestamp_in_future"
  | "delivery_id_missing"
  | "header_repeated";

export type Verification =
  | { readonly verified: true; readonly timestampSeconds: number | null }
  | { readonly verified: false; readonly problem: SignatureProblem };

export interface VerifyOptions {
  /** The live secrets: one, or two while a rotation overlaps. One that cannot be used never helps another to pass. */
  readonly secrets: readonly string[];
  readonly nowSeconds: number;
  /** How far a signed time may be from ours, both ways. */
  readonly toleranceSeconds: number;
}

/** A fact about a believed request, and whether its signature covers it: what it does not, a captor can change. */
export interface Claim {
  readonly value: string;
  readonly signed: boolean;
}

/** The facts about a believed request, from its headers and its parsed payload. Null where it does not say. */
export interface DeliveryIdentity {
  readonly deliveryId: Claim | null;
  readonly eventType: Claim | null;
}

/** The way in which one family of senders signs, and where it keeps what we need. */
export interface SignatureScheme {
  /** Media types that a delivery may have; null for any. */
  readonly mediaTypes: readonly string[] | null;
  /** The delivery id may stand where no signature covers it. */
  readonly namesUnsigned?: true;
  /** A form is its payload: the JSON of its member `payload`, or else its members. */
  readonly readsForms?: true;
  /** True if a time is part of what is signed. Without one, only the delivery id tells a replay. */
  readonly signsTime: boolean;
  /** Says what is wrong with a secret that someone wants to store; null when nothing is. */
  secretProblem(secret: string): string | null;
  /** Judges the raw bytes. Compares in constant time and never throws, whatever the headers hold. */
  verify(request: SignedRequest, options: VerifyOptions): Verification;
  identify(request: SignedRequest, payload: unknown): DeliveryIdentity;
  /** The text to answer a sender with that checks whether we are there, or null for an ordinary delivery. */
  challenge?(payload: unknown): string | null;
}
