import { unsignedHeader } from "./header-value.ts";
import { textAtPointer } from "./payload-member.ts";
import type { Claim, SignedRequest } from "./signature-scheme.ts";

/** Where a sender says which delivery it is: nowhere, in a header, or in its JSON at a pointer (RFC 6901). */
export type DeliveryIdPlace = "digest" | { readonly header: string } | { readonly pointer: string };

/** What is there; null when nothing is. */
export function claimAt(place: DeliveryIdPlace, request: SignedRequest, payload: unknown): Claim | null {
  if (place === "digest") return null;
  if ("header" in place) return unsignedHeader(request, place.header);
  const value = textAtPointer(payload, place.pointer);
  return value === null ? null : { value, signed: true };
}
