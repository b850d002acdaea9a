import type { DeliveryIdPlace } from "./delivery-id-place.ts";
import { identityPlaces, type SchemeName, type SchemeOptions, schemeOf } from "./schemes.ts";
import type { Claim, SignatureScheme, ValuePlace } from "./signature-scheme.ts";

/** Settings of a source that decide which webhooks are repetitions. */
interface RepetitionSettings extends Partial<SchemeOptions> {
  readonly deliveryIdFrom?: DeliveryIdPlace | undefined;
  readonly eventTypeFrom?: ValuePlace | readonly ValuePlace[] | undefined;
  readonly refuseSameContentSeconds?: number | undefined;
  readonly repetitionBy?: "id" | "id_and_content" | undefined;
}

/** A captured webhook must not become another webhook by another header, or by no change at all. */
const sameContentSeconds = 300;

/**
 * Returns the seconds in which the same content counts once, where neither id nor time is signed. Shopify documents
 * webhooks of two event ids as two events, whatever they contain.
 */
export const sameContentSecondsOf = (scheme: SchemeName, settings: RepetitionSettings): number =>
  settings.refuseSameContentSeconds ?? (scheme === "shopify" ? 0 : sameContentSeconds);

/**
 * Returns the weight of a delivery id: `isIdForgeable` where the same request could come under another id, `isIdFinal`
 * where the id decides alone, whatever the content. A signed id does, unless its place is a guess or the source says that
 * it names a subject; under a signature that leaves the body open it always does.
 */
export function weightOfId(
  scheme: SignatureScheme,
  { deliveryIdFrom: place, repetitionBy }: RepetitionSettings,
  deliveryId: Claim | null,
): { readonly isIdForgeable: boolean; readonly isIdFinal: boolean } {
  const isPlaced = typeof place === "object";
  const isForgeable = isPlaced ? !scheme.covers(place) : scheme.hasUnsignedId === true;
  const isOpen = !scheme.covers({ pointer: "/" });
  const namesWebhook = repetitionBy === undefined ? isPlaced || scheme.guessesId !== true : repetitionBy === "id";
  return {
    isIdForgeable: deliveryId === null || isForgeable,
    isIdFinal: deliveryId?.signed === true && (isOpen || (!isForgeable && namesWebhook)),
  };
}

/** Describes which webhooks of a sender are repetitions, in plain sentences for its owner. */
export function describeRepetitions(name: SchemeName, settings: RepetitionSettings): string {
  const scheme = schemeOf(name, settings);
  const places = identityPlaces(name, settings);
  const idPlace = settings.deliveryIdFrom ?? places.deliveryId;
  const typePlaces = [settings.eventTypeFrom ?? places.eventType].flat();
  const id = idPlace === "digest" ? null : { value: "", signed: scheme.covers(idPlace) };
  const isTypeInHeader = typePlaces.some((place) => "header" in place && !scheme.covers(place));
  const body = isTypeInHeader ? "body and type" : "body";
  const { isIdFinal, isIdForgeable } = weightOfId(scheme, settings, id);
  if (isIdFinal) return "The signed id decides: a webhook with a known id is a repetition, whatever its content.";
  const begin = id
    ? "Id and content decide: other content under a known id is a webhook of its own."
    : "The sender gives webhooks no id: every post is one event.";
  if (!isIdForgeable) return begin;
  if (scheme.signsTime) return `${begin} Only the same content with the same signed time is a repetition.`;
  const forSeconds = sameContentSecondsOf(name, settings);
  const other = id ? ` under another id` : "";
  return forSeconds === 0
    ? `${begin} The same ${body}${other} is a webhook of its own (\`refuse_same_content_seconds\` 0).`
    : `${begin} But the same ${body}${other} counts once in ${forSeconds} seconds (\`refuse_same_content_seconds\`).`;
}
