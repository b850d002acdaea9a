import { unsignedHeader } from "./header-value.ts";
import { textAtPointer } from "./payload-member.ts";
import type { Claim, SignedRequest } from "./signature-scheme.ts";

/** Place of a sender's delivery id: none (a digest is used), a header, or a pointer into its JSON (RFC 6901). */
export type DeliveryIdPlace = "digest" | { readonly header: string } | { readonly pointer: string };

/** Returns the value at a place, or null. */
export function claimAt(place: DeliveryIdPlace, request: SignedRequest, payload: unknown): Claim | null {
  if (place === "digest") return null;
  if ("header" in place) return unsignedHeader(request, place.header);
  const value = textAtPointer(payload, place.pointer);
  return value === null ? null : { value, signed: true };
}
