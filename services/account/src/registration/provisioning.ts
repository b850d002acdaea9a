import { nameFrom } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { inTransaction, type Tx } from "@signalbox/storage";
import type { Account, AccountGrant } from "../accounts/account.ts";
import { accountCreated } from "../accounts/account-events.ts";
import { checkContactAddress, checkTimezone, type FieldRule, normalized } from "../accounts/account-fields.ts";
import { holderOfAddress, type Identity } from "../accounts/account-store.ts";
import { recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";

export interface NewAccount {
  readonly claims: ProfileClaims;
  /** Default: the role `owner` with all its scopes. */
  readonly grant?: AccountGrant | undefined;
  /** The login that the account belongs to. */
  readonly identityOf: (account: Account) => Identity;
  /** The id of the presented credential, for the audit. */
  readonly credential: string;
}

/** Creates the account of a first use, or refuses it. */
type CreateFirst = (tx: Tx, wanted: NewAccount) => Promise<Account>;

interface FirstUse {
  readonly identity: Identity;
  readonly claims: ProfileClaims;
  readonly credential: string;
}

/**
 * Returns the account of a login, creating it at the first use. Only then do the claims count: later the owner
 * decides. `createFirst` may refuse the account.
 */
export async function provisionAccount(
  service: AccountService,
  { identity, claims, credential }: FirstUse,
  createFirst: CreateFirst = (tx, wanted) => createAccount(service, tx, wanted),
): Promise<Account> {
  const { accountStore, pool } = service;
  const known = await accountStore.findByIdentity(identity);
  if (known) return known;
  try {
    return await inTransaction(pool, (tx) => createFirst(tx, { claims, credential, identityOf: () => identity }));
  } catch (error) {
    const winner = error instanceof CreatedMeanwhile ? await accountStore.findByIdentity(identity) : null;
    if (winner) return winner;
    throw error;
  }
}

/** Creates the account of a login that has none. @throws CreatedMeanwhile when another transaction was first. */
export async function createAccount(
  service: AccountService,
  tx: Tx,
  { claims, grant, identityOf, credential }: NewAccount,
): Promise<Account> {
  const account = { ...(await newAccount(service, tx, claims)), ...grant };
  if (!(await service.accountStore.insert(tx, account, identityOf(account)))) throw new CreatedMeanwhile();
  const by = { kind: "owner", accountId: account.id, credential, address: null, requestId: null } as const;
  await recordInAudit(service, tx, by, { action: "account.create" });
  await service.outbox.append(tx, [accountCreated(account)]);
  return account;
}

/** An address that another account has verified is not taken over, whatever the issuer claims. */
async function newAccount({ configuration, clock }: AccountService, tx: Tx, claims: ProfileClaims): Promise<Account> {
  const account = firstAccount(claims, firstValues(configuration), clock.now());
  const { id, contactAddress } = account;
  const isTaken = contactAddress !== null && (await holderOfAddress(tx, contactAddress, id)) !== null;
  return isTaken ? { ...account, contactAddress: null, contactAddressVerified: false } : account;
}

/** Thrown at two simultaneous first uses: the second one rolls back and takes the account of the first. */
class CreatedMeanwhile extends Error {
  override readonly name = "CreatedMeanwhile";
}

/** The claims of an issuer about a person (OpenID Connect Core §5.1). Each may be missing or malformed. */
export type ProfileClaims = Readonly<Record<string, unknown>>;

export interface FirstValues {
  readonly supportedLocales: readonly string[];
  readonly defaultLocale: string;
  /** True when an account stays `pending` until a contact address is verified. */
  readonly requireVerifiedContact: boolean;
}

const defaultTimezone = "UTC";

/** The values of new accounts, read for each, because they are live properties. */
export const firstValues = (configuration: AccountService["configuration"]): FirstValues => ({
  supportedLocales: configuration.get("supported.locales"),
  defaultLocale: configuration.get("defaults.locale"),
  requireVerifiedContact: configuration.get("account.require-verified-contact"),
});

/** Builds the account of an identity at its first use (CONTRACT §1). */
export function firstAccount(claims: ProfileClaims, values: FirstValues, now: Date): Account {
  const id = randomId("acc");
  const verified = claims.email_verified === true;
  const contactAddress = verified ? usable(claims.email, checkContactAddress) : null;
  return {
    id,
    externalId: null,
    metadata: {},
    displayName: nameFrom(claims.name) ?? nameFrom(claims.preferred_username) ?? `Account ${id.slice(-6)}`,
    contactAddress,
    contactAddressVerified: contactAddress !== null,
    pendingContactAddress: null,
    locale: localeFrom(claims.locale, values.supportedLocales) ?? values.defaultLocale,
    timezone: usable(claims.zoneinfo, checkTimezone) ?? defaultTimezone,
    productUpdates: false,
    status: values.requireVerifiedContact && !verified ? "pending" : "active",
    roles: ["owner"],
    scopesMax: [],
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
