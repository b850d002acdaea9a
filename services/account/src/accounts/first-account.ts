import { displayName } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import type { Account } from "./account.ts";
import { checkContactAddress, checkTimezone, type FieldRule, normalized } from "./account-fields.ts";

/** The claims of an issuer about a person (OpenID Connect Core §5.1). Each may be missing or malformed. */
export type ProfileClaims = Readonly<Record<string, unknown>>;

export interface FirstValues {
  readonly supportedLocales: readonly string[];
  readonly defaultLocale: string;
  /** True when an account stays `pending` until a contact address is verified. */
  readonly requireVerifiedContact: boolean;
}

const defaultTimezone = "UTC";

/** Builds the account of an identity at its first use (CONTRACT §1). */
export function firstAccount(claims: ProfileClaims, values: FirstValues, now: Date): Account {
  const id = randomId("acc");
  const verified = claims.email_verified === true;
  const contactAddress = verified ? usable(claims.email, checkContactAddress) : null;
  return {
    id,
    displayName:
      displayName.safeParse(claims.name).data ??
      displayName.safeParse(claims.preferred_username).data ??
      `Account ${id.slice(-6)}`,
    contactAddress,
    contactAddressVerified: contactAddress !== null,
    pendingContactAddress: null,
    locale: localeFrom(claims.locale, values.supportedLocales) ?? values.defaultLocale,
    timezone: usable(claims.zoneinfo, checkTimezone) ?? defaultTimezone,
    productUpdates: false,
    status: values.requireVerifiedContact && !verified ? "pending" : "active",
    roles: ["owner"],
    revision: 1n,
    settingsRevision: 1n,
    accessEpoch: 0,
    createdAt: now,
    updatedAt: now,
    settingsUpdatedAt: now,
    statusChangedAt: null,
    statusActor: null,
    statusReason: null,
    recoveryRequestedAt: null,
    signedOutAt: null,
    purgeBegunAt: null,
    purgedAt: null,
  };
}

function usable(value: unknown, rule: FieldRule): string | null {
  if (typeof value !== "string") return null;
  const text = normalized(value);
  return rule(text) === null ? text : null;
}

/** `pt_BR` and `pt-BR` are found as written; `de-AT` falls back to `de`. */
function localeFrom(value: unknown, supported: readonly string[]): string | undefined {
  if (typeof value !== "string") return undefined;
  const wanted = value.replaceAll("_", "-").toLowerCase();
  const language = wanted.split("-", 1)[0];
  return [wanted, language].map((name) => supported.find((locale) => locale.toLowerCase() === name)).find(Boolean);
}
