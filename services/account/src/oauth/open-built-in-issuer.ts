import { parseIssuers } from "@signalbox/auth";
import { createClientAddress } from "@signalbox/http";
import type { Pool, Sealer } from "@signalbox/storage";
import type { Configured } from "../properties.ts";
import type { Verbs } from "../verbs.ts";
import { parseApplications } from "./applications.ts";
import { type BuiltInIssuer, createBuiltInIssuer } from "./built-in-issuer.ts";
import { cookieKeysFrom } from "./cookie-keys.ts";
import { createIssuing, type Issuing } from "./issuing.ts";

/** Makes the first key where there is none, and answers the issuer that signs with it. */
export async function openBuiltInIssuer(
  { configuration, log }: Configured,
  pool: Pool,
  verbs: Verbs,
  issuing: Issuing,
): Promise<BuiltInIssuer> {
  const applications = parseApplications(configuration.get("account.oauth.applications"));
  await issuing.keepSigningKeys();
  return createBuiltInIssuer({
    ...verbs,
    ...issuing,
    pool,
    log,
    applications,
    accessTokenSeconds: configuration.get("account.oauth.access-token-minutes") * 60,
    cookieKeys: cookieKeysFrom(configuration.get("secrets.keys")),
    clientAddress: createClientAddress(configuration.get("http.trusted-proxies")),
    defaultLocale: () => configuration.get("defaults.locale"),
  });
}

/** The keys of the built-in issuer, which runs when no other is configured. */
export function createIssuingIfAlone({ configuration, clock }: Configured, pool: Pool, sealer: Sealer): Issuing | null {
  if (parseIssuers(configuration.get("auth.issuers")).length > 0) return null;
  return createIssuing({
    pool,
    sealer,
    clock,
    baseUrl: configuration.get("http.base-url"),
    rotationDays: () => configuration.get("account.oauth.key-rotation-days"),
  });
}
