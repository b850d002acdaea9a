import type { SignatureProblem } from "./signature-scheme.ts";
import { readTime, type TimeUnit } from "./timestamp-tolerance.ts";

/** Names of the members of a header such as `t=1700000000,v1=…`. */
export interface PairNames {
  /** Null for a header without a time. */
  readonly timeKey: string | null;
  readonly signatureKey: string;
  readonly separator: string;
}

/** Signature data of a request: the time as written, and the signatures. */
export interface SignatureTexts {
  readonly timestampText: string | null;
  readonly timestampSeconds: number | null;
  readonly signatures: readonly string[];
}

/**
 * Largest number of signatures that are compared, more than any rotation needs: each costs a comparison or a curve
 * operation.
 */
export const signaturesMax = 16;

export const stripePairs: PairNames = { timeKey: "t", signatureKey: "v1", separator: "," };

/**
 * Reads `t=1700000000,v1=…,v1=…` in any order. The time must appear exactly once: two would let an old signature travel
 * with a fresh time. Members of other schemes (`v0`) are skipped.
 */
export function readSignaturePairs(
  header: string,
  { timeKey, signatureKey, separator }: PairNames = stripePairs,
  unit: TimeUnit = "s",
): SignatureTexts | { readonly problem: SignatureProblem } {
  const pairs = header.split(separator).map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? ["", ""] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  const valuesOf = (name: string) => pairs.filter(([key]) => key === name).map(([, value]) => value as string);
  const signatures = valuesOf(signatureKey).slice(0, signaturesMax);
  const missing = { problem: "signature_missing" } as const;
  if (timeKey === null) {
    return signatures.length === 0 ? missing : { timestampText: null, timestampSeconds: null, signatures };
  }
  const times = valuesOf(timeKey);
  const [timestampText] = times;
  if (timestampText === undefined) return { problem: "timestamp_missing" };
  const timestampSeconds = times.length === 1 ? readTime(timestampText, unit) : null;
  if (timestampSeconds === null) return { problem: "timestamp_malformed" };
  return signatures.length === 0 ? missing : { timestampText, timestampSeconds, signatures };
}
