import type { Claim, SignatureProblem, SignedRequest } from "./signature-scheme.ts";

/**
 * Returns the single value of a header, or the problem. An empty value counts as missing; of several values none is
 * chosen.
 */
export function headerValue<Problem extends SignatureProblem>(
  { headers }: SignedRequest,
  name: string,
  missing: Problem,
): { value: string } | { problem: Problem | "header_repeated" } {
  const value = headers[name.toLowerCase()];
  if (value === undefined || value === "") return { problem: missing };
  if (typeof value === "string") return { value };
  const [only] = value;
  return value.length === 1 && only ? { value: only } : { problem: "header_repeated" };
}

/** Returns a header as an unsigned claim. */
export function unsignedHeader(request: SignedRequest, name: string): Claim | null {
  const value = optionalHeader(request, name);
  return value === null ? null : { value, signed: false };
}

/** Returns a header that may be absent; null also for a repeated one. */
export function optionalHeader(request: SignedRequest, name: string): string | null {
  const found = headerValue(request, name, "signature_missing");
  return "value" in found ? found.value : null;
}
