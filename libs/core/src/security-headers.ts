/** Headers of every response: we send no pages, so nothing may be run, framed or guessed, and no referrer is sent. */
export const securityHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"],
  ["Referrer-Policy", "no-referrer"],
  ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"],
] as const;
