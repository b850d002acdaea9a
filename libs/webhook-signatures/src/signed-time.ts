import type { SignatureProblem, VerifyOptions } from "./signature-scheme.ts";

/** Reads Unix seconds: digits and nothing else, so that no other spelling of the same time can be signed apart. */
export function readSeconds(text: string): number | null {
  return /^\d{1,12}$/.test(text) ? Number(text) : null;
}

/** Judges a signed time both ways: an old one may be a replay, one from the future would stay valid too long. */
export function timeProblem(
  timestampSeconds: number,
  { nowSeconds, toleranceSeconds }: Pick<VerifyOptions, "nowSeconds" | "toleranceSeconds">,
): SignatureProblem | null {
  if (timestampSeconds < nowSeconds - toleranceSeconds) return "timestamp_too_old";
  if (timestampSeconds > nowSeconds + toleranceSeconds) return "timestamp_in_future";
  return null;
}
