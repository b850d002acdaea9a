/** The ways in which senders ask an address whether it is ours and wants their webhooks. */
export const handshakes = [
  ...(["meta", "dropbox", "microsoft-graph", "cloudevents"] as const),
  ...(["slack", "zoom", "discord"] as const),
] as const;
export type Handshake = (typeof handshakes)[number];

/** A request as it came: lower-case header names as Node gives them, and the raw bytes before anything read them. */
export interface SignedRequest {
  readonly method: string;
  /** The whole address as its sender has it, which some of them sign. */
  readonly url: string;
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
  | "header_repeated"
  | "signed_header_missing"
  | "token_missing"
  | "token_malformed"
  | "token_mismatch"
  | "key_unknown"
  | "issuer_mismatch"
  | "audience_mismatch"
  | "body_digest_mismatch";

export type Verification =
  | { readonly verified: true; readonly timestampSeconds: number | null }
  | { readonly verified: false; readonly problem: SignatureProblem };

export interface VerifyOptions {
  /** The live secrets: one, or more while a rotation overlaps. One that cannot be used never helps another to pass. */
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
  /** A secret is shown and nothing is signed: whoever saw one webhook can make up any other. */
  readonly signsNothing?: true;
  /** Headers with proofs in them, whose names do not always tell. */
  readonly proofHeaders?: readonly string[];
  /** A form is its payload: the JSON of its member `payload`, or else its members. */
  readonly readsForms?: true;
  /** True if a time is part of what is signed. Without one, only the delivery id tells a replay. */
  readonly signsTime: boolean;
  /** Says what is wrong with a secret that someone wants to store; null when nothing is. */
  secretProblem(secret: string): string | null;
  /** The address of the keys that a secret stands for: what is there takes its place before anything is verified. */
  keysAt?(secret: string): string | null;
  /** Judges the raw bytes. Compares in constant time and never throws, whatever the headers hold. */
  verify(request: SignedRequest, options: VerifyOptions): Verification;
  /** Judges the time that the body itself holds, once it is verified and read; absent where it holds none. */
  verifyTime?(payload: unknown, options: VerifyOptions): Verification;
  identify(request: SignedRequest, payload: unknown): DeliveryIdentity;
  /** How all its senders ask whether an address is ours. */
  readonly handshake?: Handshake;
}
