import { displayName } from "@signalbox/contracts";
import { type Clock, randomId } from "@signalbox/core";
import type { Outbox } from "@signalbox/events";
import { inTransaction, type Pool, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import { accountCreated } from "../accounts/account-events.ts";
import { checkContactAddress, checkTimezone, type FieldRule, normalized } from "../accounts/account-fields.ts";
import type { AccountStore, Identity } from "../accounts/account-store.ts";
import type { Audit } from "../audit/audit-log.ts";
import type { VerifiedAddresses } from "../contacts/verified-addresses.ts";

interface ProvisioningDependencies {
  readonly pool: Pool;
  readonly accountStore: Pick<AccountStore, "findByIdentity" | "insert">;
  readonly verifiedAddresses: Pick<VerifiedAddresses, "holderOf">;
  readonly outbox: Pick<Outbox, "append">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  /** Called for each new account, because the supported locales are a live property. */
  readonly firstValues: () => FirstValues;
}

/** The roles of a new account, and the scopes that they bring at most. */
export type AccountGrant = Pick<Account, "roles" | "scopesMax">;

export interface NewAccount {
  readonly claims: ProfileClaims;
  /** Default: the role `owner` with all its scopes. */
  readonly grant?: AccountGrant | undefined;
  /** The login that the account belongs to. */
  readonly identityOf: (account: Account) => Identity;
  /** The id of the presented credential, for the audit. */
  readonly credential: string;
}

interface FirstUse extends Pick<NewAccount, "claims" | "credential"> {
  readonly identity: Identity;
}

export type Provisioning = ReturnType<typeof createProvisioning>;

/** Creates accounts at the first use of a login. */
export function createProvisioning(dependencies: ProvisioningDependencies) {
  const { pool, accountStore, outbox, audit } = dependencies;

  return {
    create,

    /**
     * Returns the account of a login, creating it at the first use. Only then do the claims count: later the owner
     * decides. `createFirst` may refuse the account.
     */
    async provision({ identity, claims, credential }: FirstUse, createFirst = create): Promise<Account> {
      const known = await accountStore.findByIdentity(identity);
      if (known) return known;
      try {
        return await inTransaction(pool, (tx) => createFirst(tx, { claims, credential, identityOf: () => identity }));
      } catch (error) {
        const winner = error instanceof CreatedMeanwhile ? await accountStore.findByIdentity(identity) : null;
        if (winner) return winner;
        throw error;
      }
    },
  };

  /** Creates the account of a login that has none. @throws CreatedMeanwhile when another transaction was first. */
  async function create(tx: Tx, { claims, grant, identityOf, credential }: NewAccount): Promise<Account> {
    const account = { ...(await newAccount(tx, claims, dependencies)), ...grant };
    if (!(await accountStore.insert(tx, account, identityOf(account)))) throw new CreatedMeanwhile();
    const by = { kind: "owner", accountId: account.id, credential, address: null, requestId: null } as const;
    await audit.record(tx, by, { action: "account.create" });
    await outbox.append(tx, [accountCreated(account)]);
    return account;
  }
}

/** An address that another account has verified is not taken over, whatever the issuer claims. */
async function newAccount(
  tx: Tx,
  claims: ProfileClaims,
  { firstValues, verifiedAddresses, clock }: ProvisioningDependencies,
): Promise<Account> {
  const account = firstAccount(claims, firstValues(), clock.now());
  const { id, contactAddress } = account;
  const isTaken = contactAddress !== null && (await verifiedAddresses.holderOf(tx, contactAddress, id)) !== null;
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

/** Builds the account of an identity at its first use (CONTRACT §1). */
export function firstAccount(claims: ProfileClaims, values: FirstValues, now: Date): Account {
  const id = randomId("acc");
  const verified = claims.email_verified === true;
  const contactAddress = verified ? usable(claims.email, checkContactAddress) : null;
  return {
    id,
    externalId: null,
    metadata: {},
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
