import type { SignatureProblem } from "./signature-scheme.ts";
import { readSeconds } from "./signed-time.ts";

interface SignaturePairs {
  readonly timestampText: string;
  readonly timestampSeconds: number;
  readonly signatures: readonly string[];
}

const signaturesMax = 16;

/**
 * Reads `t=1700000000,v1=…,v1=…` in any order. The time must be there exactly once: two would let an old signature travel
 * with a fresh time. Other schemes' members (`v0`) are passed over.
 */
export function readSignaturePairs(header: string): SignaturePairs | { readonly problem: SignatureProblem } {
  const pairs = header.split(",").map((pair) => {
    const at = pair.indexOf("=");
    return at < 0 ? ["", ""] : [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
  });
  const valuesOf = (name: string) => pairs.filter(([key]) => key === name).map(([, value]) => value as string);
  const times = valuesOf("t");
  const [timestampText] = times;
  if (timestampText === undefined) return { problem: "timestamp_missing" };
  const timestampSeconds = times.length === 1 ? readSeconds(timestampText) : null;
  if (timestampSeconds === null) return { problem: "timestamp_malformed" };
  const signatures = valuesOf("v1").slice(0, signaturesMax);
  return signatures.length === 0 ? { problem: "signature_missing" } : { timestampText, timestampSeconds, signatures };
}
