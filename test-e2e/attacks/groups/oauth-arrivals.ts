import type { Finding } from "../runner/attack.ts";

/** The page at which a browser has arrived. */
export interface Arrival {
  readonly status: number;
  readonly url: string;
  readonly text: string;
}

/** Any script but the one of passkeys. */
const foreignScript = /<script(?! src="[^"]+\/passkeys\.js" defer>)/;

export const at = (url: string, text = "", status = 302): Arrival => ({ status, url, text });

/** Finds a code or a token, and every address but `homes`. */
export const givesNothing =
  (homes: readonly string[]) =>
  ({ status, url, text }: Arrival): Finding => {
    const isGiven = /[?#&](code|access_token|id_token)=/.test(url) || /[?#&"](code|access_token|id_token)=/.test(text);
    const isElsewhere = !homes.some((home) => url.startsWith(home));
    return isGiven || isElsewhere || status >= 500 || foreignScript.test(text)
      ? `${status} at ${url}: ${text.slice(0, 200)}`
      : null;
  };
