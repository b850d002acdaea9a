import { createHmac, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { sameDigest } from "@signalbox/auth";

/** A browser that has signed in before. Its cookie grants no access: it only shows that the browser is no stranger. */
export interface KnownBrowser {
  readonly id: string;
  /** Returns true when it has signed in to this account. */
  knows(accountId: string): boolean;
}

export type KnownBrowsers = ReturnType<typeof createKnownBrowsers>;

interface Settings {
  /** The first one signs, all verify. */
  readonly cookieKeys: readonly string[];
  readonly path: string;
  readonly isSecure: boolean;
}

const cookieName = "signalbox_known_browser";
/** The longest time for which browsers keep a cookie. */
const maxAgeSeconds = 400 * 24 * 60 * 60;
/** Accounts in the order of their last sign-in, the latest first. */
const accountsMax = 5;

/**
 * Remembers in a signed cookie, for each browser, the accounts that it has signed in to. The cookie has an id of the
 * browser, a proof that we issued it, and a proof for each account, none of which reveals the account.
 */
export function createKnownBrowsers({ cookieKeys, path, isSecure }: Settings) {
  const proofBy = (key: string, ...parts: readonly string[]): string =>
    createHmac("sha256", key)
      .update(JSON.stringify(["known browser", ...parts]))
      .digest("base64url");
  const proves = (proof: string, ...parts: readonly string[]): boolean =>
    cookieKeys.some((key) => sameDigest(Buffer.from(proof), Buffer.from(proofBy(key, ...parts))));

  function read(request: IncomingMessage) {
    const [id = "", ofBrowser = "", ...ofAccounts] = cookieOf(request).split(".");
    return proves(ofBrowser, id) ? { id, ofAccounts: ofAccounts.slice(0, accountsMax) } : null;
  }

  return {
    /** Identifies the browser of a request; null for one that has not signed in before. */
    of(request: IncomingMessage): KnownBrowser | null {
      const known = read(request);
      if (known === null) return null;
      const { id, ofAccounts } = known;
      return { id, knows: (accountId) => ofAccounts.some((proof) => proves(proof, id, accountId)) };
    },

    /** Adds the account to the browser's cookie. */
    remember(request: IncomingMessage, response: ServerResponse, accountId: string): void {
      const { id, ofAccounts } = read(request) ?? { id: randomBytes(16).toString("base64url"), ofAccounts: [] };
      const others = ofAccounts.filter((proof) => !proves(proof, id, accountId)).slice(0, accountsMax - 1);
      const [key = ""] = cookieKeys;
      const value = [id, proofBy(key, id), proofBy(key, id, accountId), ...others].join(".");
      const attributes = `Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
      response.appendHeader("Set-Cookie", `${cookieName}=${value}; ${attributes}`);
    },
  };
}

function cookieOf({ headers }: IncomingMessage): string {
  const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? "";
}
