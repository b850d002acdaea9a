/** Kinds of verification requests by which senders confirm an address. */
export const handshakes = [
  ...(["head", "meta", "dropbox", "microsoft-graph", "cloudevents"] as const),
  ...(["slack", "zoom", "discord", "twitch", "okta", "x", "aws-sns", "event-grid", "monday", "asana"] as const),
] as const;
export type Handshake = (typeof handshakes)[number];

/** A request as it arrived: lower-case header names as in Node, and the raw bytes of the body. */
export interface SignedRequest {
  readonly method: string;
  /** Full URL as its sender has it; some senders sign it. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** Reason why a request is not verified. It is stored with the rejection; the sender gets a 401 only. */
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
  | "signed_query_missing"
  | "token_missing"
  | "token_malformed"
  | "token_mismatch"
  | "key_unknown"
  | "certificate_not_allowed"
  | "certificate_unusable"
  | "issuer_mismatch"
  | "audience_mismatch"
  | "claim_mismatch"
  | "body_digest_mismatch";

export type Verification =
  | { readonly verified: true; readonly timestampSeconds: number | null }
  | {
      readonly verified: false;
      readonly problem: SignatureProblem;
      /** The time as the request has it, which nothing proves. */
      readonly timestampSeconds?: number | null;
    };

/** Our time, and the tolerance of signed times around it. */
export interface TimestampTolerance {
  readonly nowSeconds: number;
  /** Largest difference between a signed time and ours, both ways. */
  readonly toleranceSeconds: number;
}

export interface VerifyOptions extends TimestampTolerance {
  /** Live secrets: more than one while a rotation overlaps. An unusable secret never helps another to pass. */
  readonly secrets: readonly string[];
  /** The certificate at the address that `certificateAt` returned, in PEM; null when there is none. */
  readonly certificate?: string | null;
}

/**
 * A fact about a verified request. Without a signature over it, an attacker with a captured request could change it.
 */
export interface Claim {
  readonly value: string;
  readonly signed: boolean;
}

/** Place of a value: a header, or a pointer into the JSON of the body (RFC 6901). */
export type ValuePlace = { readonly header: string } | { readonly pointer: string };

/** Facts about a verified request, from its headers and its parsed payload; null for missing ones. */
export interface DeliveryIdentity {
  readonly deliveryId: Claim | null;
  readonly eventType: Claim | null;
}

/** The way a family of senders signs, and the places of its data. */
export interface SignatureScheme {
  /** True when the delivery id may be in a place that no signature covers. */
  readonly hasUnsignedId?: true | undefined;
  /** True when the place of the id is a guess: the `id` of a body often names its subject. */
  readonly guessesId?: true | undefined;
  /** Headers with credentials whose names do not always show it. */
  readonly proofHeaders?: readonly string[];
  /** True when a form is the payload: the JSON of its member `payload`, or else its members. */
  readonly readsForms?: true | undefined;
  /** True when JSON may come as plain text. */
  readonly readsText?: true | undefined;
  /** True when a signed time exists. Without one, only the delivery id identifies a replay. */
  readonly signsTime: boolean;
  /** Describes the problem of a secret before it is stored; null for a usable one. Some sources accept short ones. */
  secretProblem(secret: string, acceptsShort?: boolean): string | null;
  /** Returns the URL of the keys that a secret stands for; they replace the secret before a verification. */
  readonly keysAt?: ((secret: string) => string | null) | undefined;
  /** Returns the URL of the certificate that a request names; null for one outside of the allow-list. */
  certificateAt?(request: SignedRequest): string | null;
  /** Returns true for a URL at a host that certificates may come from. */
  isTrustedHost?(url: string): boolean;
  /** Verifies the raw bytes. Compares in constant time and never throws, with any headers. */
  verify(request: SignedRequest, options: VerifyOptions): Verification;
  /** Checks the time in the body, after it is verified and parsed; absent for schemes without one. */
  readonly verifyTime?: ((payload: unknown, options: VerifyOptions) => Verification) | undefined;
  /** Returns the signed value in a payload, for schemes that wrap it in a token; absent for those that sign the payload. */
  readonly signedValue?: ((payload: unknown) => unknown) | undefined;
  /** Finds the identity in the headers and in the signed value. */
  identify(request: SignedRequest, value: unknown): DeliveryIdentity;
  /**
   * Returns what is signed of a request whose body may be written in other bytes under the same signature; absent for
   * schemes that sign the bytes.
   */
  readonly signedText?: ((request: SignedRequest) => string) | undefined;
  /** Returns true when the signature covers the value at a place of the request. */
  covers(place: ValuePlace): boolean;
  /** Kind of the verification request of all its senders. */
  readonly handshake?: Handshake;
}
