import { AppError } from "@signalbox/core";

/** An `Idempotency-Key` with the operation that it was sent with, on its way from the gateway to a subgraph. */
export interface OperationKey {
  readonly key: string;
  /** What makes two operations the same: the document, its variables and the operation's name, as a digest. */
  readonly fingerprint: Buffer;
  /** False where this subgraph has run another part of the same operation before. */
  readonly isFirst: boolean;
}

/** Believed as the principal is, because subgraphs are on the internal listener alone. */
export const operationKeyHeader = "x-signalbox-operation-key";

export function encodeOperationKey({ key, fingerprint, isFirst }: OperationKey): string {
  return `${isFirst ? "first" : "later"} ${fingerprint.toString("hex")} ${key}`;
}

/** Reads what `encodeOperationKey` wrote; null where the client sent no key. */
export function decodeOperationKey(header: string | string[] | undefined): OperationKey | null {
  if (header === undefined) return null;
  const [, place, fingerprint, key] = /^(first|later) ([\da-f]+) ([\x21-\x7e]+)$/.exec(String(header)) ?? [];
  if (!fingerprint || !key) throw new AppError("invalid_request", "The forwarded Idempotency-Key is unreadable.");
  return { key, fingerprint: Buffer.from(fingerprint, "hex"), isFirst: place === "first" };
}
