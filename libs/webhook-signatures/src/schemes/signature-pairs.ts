import type { SignatureProblem } from "./signature-scheme.ts";
import { readTime, type TimeUnit } from "./timestamp-tolerance.ts";

/** Names of the members of a header such as `t=1700000000,v1=…`. */
export interface PairNames {
  /** Null for a header without a time. */
  readonly timeKey: string | null;
  readonly signatureKey: string;
  readonly separator: string;
}

/** The signed time of a request, also as it is written; null where none is signed. */
export interface SignedTime {
  readonly timestampText: string | null;
  readonly timestampSeconds: number | null;
}

/** Signature data of a request. */
export interface SignatureTexts extends SignedTime {
  readonly signatures: readonly string[];
}

/**
 * Largest number of signatures that are compared, more than any rotation needs: each costs a comparison or a curve
 * operation.
 */
export const signaturesMax = 16;

export const stripePairs: PairNames = { timeKey: "t", signatureKey: "v1", separator: "," };

/**
 * Reads `t=1700000000,v1=…,v1=…` in any order, also in groups with spaces between them, each with the time. Two times
 * would let an old signature travel with a fresh one. Members of other schemes (`v0`) are skipped.
 */
export function readSignaturePairs(
  header: string,
  { timeKey, signatureKey, separator }: PairNames = stripePairs,
  unit: TimeUnit = "s",
): SignatureTexts | { readonly problem: SignatureProblem } {
  // A header that came twice is joined with a comma: that is one group with two times.
  const groups = separator === " " ? [header] : header.split(/(?<![,; ]) +(?=[\w-]+=)/);
  const pairs = groups
    .flatMap((group) => group.split(separator))
    .map((pair) => {
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
  const isOne = times.length === groups.length && times.every((time) => time === timestampText);
  const timestampSeconds = isOne ? readTime(timestampText, unit) : null;
  if (timestampSeconds === null) return { problem: "timestamp_malformed" };
  return signatures.length === 0 ? missing : { timestampText, timestampSeconds, signatures };
}
