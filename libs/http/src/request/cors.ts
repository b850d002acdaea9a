/**
 * The pages of other origins that may read our answers in a browser. Credentials travel in headers, so no cookie is at
 * stake.
 */
export interface Cors {
  /** Returns the value of `Access-Control-Allow-Origin`; null when the browser must keep the answer from the page. */
  allowedOrigin(origin: string | undefined, isAnonymousRoute: boolean): string | null;
  /** True when answers differ by the requesting origin, which caches must know. */
  readonly varies: boolean;
}

/** Headers of an answer that a page may read besides the standard ones. */
export const exposedHeaders =
  "ETag, Location, RateLimit, RateLimit-Policy, Retry-After, Upload-Complete, Upload-Length, Upload-Offset, X-Request-Id";

/** Creates the rules of `http.cors.origins`. `*` lets every page read public answers. */
export function createCors(origins: readonly string[]): Cors {
  const exact = new Set(origins.filter((origin) => origin !== "*"));
  const anyOrigin = origins.includes("*");
  return {
    varies: exact.size > 0,
    allowedOrigin(origin, isAnonymousRoute) {
      // Even without an origin: a cache may serve this answer to a page later.
      if (anyOrigin && isAnonymousRoute) return "*";
      return origin !== undefined && exact.has(origin) ? origin : null;
    },
  };
}
