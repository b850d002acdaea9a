import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";

/** Picks what to send of what a route can make; null when the client accepts none of it. */
export type Negotiate = (accept: string | undefined) => string | null;

/** Different `Accept` values remembered per route. Real clients send a handful. */
const rememberedMax = 64;

/** Creates the content negotiation (RFC 9110 §12.5.1) of a route that makes these media types, the preferred first. */
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

/** A parameter of a media range that is not its weight: none of our types has any, and `charset=utf-8` is what JSON is. */
const parameter = /;(?!\s*q\s*=)[^=;,]*(?:=(?:\s*"(?:[^"\\]|\\.)*"|[^;,]*))?/gi;

/** Lists the languages of an `Accept-Language` header, the preferred first. */
export function acceptedLanguages(header: string | undefined): readonly string[] {
  return header === undefined ? [] : new Negotiator({ headers: { "accept-language": header } }).languages();
}
