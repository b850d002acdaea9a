import { optionalHeader } from "./header-value.ts";
import { textAtPointer } from "./payload-member.ts";
import type { Claim, SignedRequest, ValuePlace } from "./signature-scheme.ts";

/** Place of a sender's delivery id: none (a digest is used), a header, or a pointer into its JSON (RFC 6901). */
export type DeliveryIdPlace = "digest" | ValuePlace;

/** Returns the value at a place, or null. It is signed where the scheme's signature covers the place. */
export function claimAt(
  place: DeliveryIdPlace,
  { covers }: { covers(place: ValuePlace): boolean },
  request: SignedRequest | null,
  payload: unknown,
): Claim | null {
  if (place === "digest") return null;
  const inHeader = (name: string) => request && optionalHeader(request, name);
  const value = "header" in place ? inHeader(place.header) : textAtPointer(payload, place.pointer);
  return value === null ? null : { value, signed: covers(place) };
}
