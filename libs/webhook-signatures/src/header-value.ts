import type { Claim, SignatureProblem, SignedRequest } from "./signature-scheme.ts";

/** The one value of a header, or why there is none. An empty value counts as missing; several are never chosen from. */
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

/** What a header says that no signature covers. */
export function unsignedHeader(request: SignedRequest, name: string): Claim | null {
  const value = optionalHeader(request, name);
  return value === null ? null : { value, signed: false };
}

/** A header that may be absent; null also when it is repeated. */
export function optionalHeader(request: SignedRequest, name: string): string | null {
  const found = headerValue(request, name, "signature_missing");
  return "value" in found ? found.value : null;
}
