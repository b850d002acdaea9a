/** A delivery that was verified and taken. */
export interface ReceivedDelivery {
  readonly id: string;
  readonly sourceId: string;
  /** As the partner names it; unique per source. */
  readonly deliveryId: string;
  readonly eventType: string | null;
  readonly contentType: string | null;
  /** The raw bytes, as they were signed. */
  readonly body: Buffer;
  readonly receivedAt: Date;
}

/** The body for those who read the event: exactly one of the three. */
export type Payload =
  | { readonly payload: unknown }
  | { readonly payload_text: string }
  | { readonly payload_base64: string };

/** A delivery that was refused: enough to find the mistake, nothing of the body. */
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
}
