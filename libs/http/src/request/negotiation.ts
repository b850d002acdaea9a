import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

/** Picks the media type to send; null when the client accepts none. */
export type Negotiate = (accept: string | undefined) => string | null;

/** Number of `Accept` values remembered per route. Real clients send a handful. */
const rememberedMax = 64;

/** Creates the content negotiation (RFC 9110 §12.5.1) of a route with these media types, the preferred first. */
export function createNegotiate(available: readonly string[]): Negotiate {
  const remembered = new LRUCache<string, { readonly chosen: string | null }>({ max: rememberedMax });
  const preferred = available[0] ?? null;
  return (accept) => {
    if (accept === undefined || preferred === null) return preferred;
    const known = remembered.get(accept);
    if (known) return known.chosen;
    const chosen = choose(accept, available);
    remembered.set(accept, { chosen });
    return chosen;
  };
}

function choose(accept: string, available: readonly string[]): string | null {
  const plain = accept.replace(parameter, "");
  return new Negotiator({ headers: { accept: plain } }).mediaType([...available]) ?? null;
}

/**
 * Matches parameters of a media range other than its weight: our types have none, and `charset=utf-8` is implied by
 * JSON.
 */
const parameter = /;(?!\s*q\s*=)[^=;,]*(?:=(?:\s*"(?:[^"\\]|\\.)*"|[^;,]*))?/gi;

/** Lists the languages of an `Accept-Language` header, the preferred first. */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  return header === undefined ? [] : new Negotiator({ headers: { "accept-language": header } }).languages();
}
