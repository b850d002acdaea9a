import { createApiKey, digestApiKey, parseApiKey } from "@signalbox/auth";

/** Where API keys have the name of their system: scanners that know our keys find secrets of clients too. */
const prefix = "client";

/** A new secret, `sbx_client_…`, and what is kept of it. Its only copy is `text`. */
export function newClientSecret(): { readonly text: string; readonly digest: Buffer } {
  const text = createApiKey(prefix);
  return { text, digest: digestApiKey(text) };
}

/** The digest of a presented secret; null when its check digits say that it is none. */
export function digestClientSecret(text: string): Buffer | null {
  return parseApiKey(text)?.environment === prefix ? digestApiKey(text) : null;
}
