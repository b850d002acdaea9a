import { isIP } from "node:net";
import { examples, identifier, timestamp, viewOf } from "@signalbox/contracts";
import { addressBucket } from "@signalbox/http";
import { z } from "zod";

/** A person's sign-in with one browser at the built-in issuer. */
export interface SignIn {
  readonly id: string;
  readonly accountId: string;
  /** The digest of the session's `uid`. */
  readonly session: Buffer;
  /** Null when the browser is unknown. */
  readonly browser: string | null;
  /** Client address at the time of the sign-in. */
  readonly address: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
}

/** A browser that has signed in before. Its cookie grants no access: it only shows that the browser is no stranger. */
export interface KnownBrowser {
  readonly id: string;
  /** Returns true when it has signed in to this account. */
  knows(accountId: string): boolean;
}

/** A sign-in in its owner's list. */
export interface ListedSignIn extends SignIn {
  /** True when the request came with a token of this sign-in. */
  readonly current: boolean;
}

export const ExportedSignIn = z
  .object({
    id: identifier("The sign-in"),
    created_at: timestamp,
    last_used_at: timestamp.describe("Time at which an application last got a token through it, to the minute."),
    browser: z.string().nullable().describe("Browser and system by name; null when unknown."),
    address: z.string().nullable().describe("Client address at the time of the sign-in."),
  })
  .meta({ id: "ExportedSignIn", description: "A sign-in of a person with one browser at the built-in issuer." });

export const signInExample: z.output<typeof ExportedSignIn> = {
  id: "sgn_5kTz8Nq1XfLcW3bRyVpJhd",
  created_at: "2026-01-01T09:00:00.000Z",
  last_used_at: "2026-01-02T11:30:00.000Z",
  browser: "Firefox, Linux",
  address: "203.0.113.7",
};

examples.add(ExportedSignIn, { example: signInExample });

export const SignInResource = ExportedSignIn.extend({
  current: z.boolean().describe("True when this request came with a token of this sign-in."),
})
  .meta({ id: "SignIn", description: "A sign-in of a person with one browser at the built-in issuer." })
  .register(examples, { example: { ...signInExample, current: true } });

/** Shows a sign-in without its relation to a request. */
export const exportedSignIn = viewOf(ExportedSignIn, (_: SignIn) => ({}));

/** The network of a client address, as far as a page shows it: a place without a person. */
export function networkOf(address: string): string {
  if (isIP(address) === 4) return `${address.split(".").slice(0, 3).join(".")}.0/24`;
  return addressBucket(address);
}

/** The first match counts: browsers also name those that they descend from. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(Chrome|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/\bWindows\b/, "Windows"],
  [/\bAndroid\b/, "Android"],
  [/\b(iPhone|iPad)\b/, "iOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];

/** Longer than any browser's. The rest is arbitrary text. */
const charactersMax = 512;

/**
 * Names the browser and system of a `User-Agent`, such as `Firefox, Linux`; null for an unknown one. The header is
 * arbitrary text, so no word of it is shown.
 */
export function browserNameOf(userAgent: string | undefined): string | null {
  const text = (userAgent ?? "").slice(0, charactersMax);
  const nameIn = (known: typeof browsers) => known.find(([pattern]) => pattern.test(text))?.[1];
  const names = [nameIn(browsers), nameIn(systems)].filter((name) => name !== undefined);
  return names.length === 0 ? null : names.join(", ");
}
