/** Which pages of other origins a browser lets read our answers. Credentials travel in headers, so no cookie is at stake. */
export interface Cors {
  /** What `Access-Control-Allow-Origin` says; null when the browser is to keep the answer from the page. */
  allowedOrigin(origin: string | undefined, isAnonymousRoute: boolean): string | null;
  /** Answers differ by the origin that asks, which caches must know. */
  readonly varies: boolean;
}

/** What a page may read of an answer besides the headers that every page may read. */
export const exposedHeaders =
  "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Upload-Complete, Upload-Length, Upload-Offset, X-Request-Id";

/** Creates the rules of `http.cors.origins`. `*` lets every page read what everybody may read. */
export function createCors(origins: readonly string[]): Cors {
  const exact = new Set(origins.filter((origin) => origin !== "*"));
  const anyOrigin = origins.includes("*");
  return {
    varies: exact.size > 0,
    allowedOrigin(origin, isAnonymousRoute) {
      // Also without an origin: a cache may hand this very answer to a page later.
      if (anyOrigin && isAnonymousRoute) return "*";
      return origin !== undefined && exact.has(origin) ? origin : null;
    },
  };
}
