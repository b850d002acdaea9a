/**
 * Headers of every response: we send no pages, so nothing may be run, framed or guessed, and no referrer is sent. Pages
 * have a content policy of their own, and those in windows of others another opener policy.
 */
export const securityHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"],
  ["Referrer-Policy", "no-referrer"],
  ["Cross-Origin-Opener-Policy", "same-origin"],
  ["Permissions-Policy", "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"],
] as const;

/** The header that keeps browsers at https, for a deployment that has it. */
export const transportSecurity = ["Strict-Transport-Security", "max-age=31536000; includeSubDomains"] as const;
