import {
  AccountResource,
  AccountSettingsResource,
  type AccountState,
  type Role,
  type Scope,
  scopesOfRole,
  type TransitionActor,
  viewOf,
} from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";

/** An account with its settings, as the operations see it. */
export interface Account {
  readonly id: string;
  readonly displayName: string;
  /** The id of the account in another system; unique. */
  readonly externalId: string | null;
  /** Texts of administrators, which the owner does not see. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly contactAddress: string | null;
  readonly contactAddressVerified: boolean;
  /** A new address that is not confirmed yet. */
  readonly pendingContactAddress: string | null;
  readonly locale: string;
  readonly timezone: string;
  readonly productUpdates: boolean;
  readonly status: AccountState;
  readonly roles: readonly Role[];
  /** The scopes that the roles bring at most; empty for all of them. */
  readonly scopesMax: readonly Scope[];
  readonly revision: bigint;
  readonly settingsRevision: bigint;
  readonly accessEpoch: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly settingsUpdatedAt: Date;
  /** The last change of status; all three are null before the first. */
  readonly statusChangedAt: Date | null;
  readonly statusActor: TransitionActor | null;
  readonly statusReason: string | null;
  /** Time at which the owner of a disabled account asked for its recovery. */
  readonly recoveryRequestedAt: Date | null;
  /**
   * Time at which the owner signed out everywhere: tokens of other issuers that were issued at or before it are
   * refused.
   */
  readonly signedOutAt: Date | null;
  /** Start of the purge, which cannot be undone. */
  readonly purgeBegunAt: Date | null;
  /** Time at which the personal fields were erased: the rest is a tombstone. */
  readonly purgedAt: Date | null;
}

export type AccountGrant = Pick<Account, "roles" | "scopesMax">;

/** The account's state with the change that led to it, as every edge judges and explains it. */
export const stateOf = ({ status, statusChangedAt, statusReason }: Account) => ({
  state: status,
  ...(statusChangedAt && { stateChange: { atMs: statusChangedAt.getTime(), reason: statusReason } }),
});

/** The scopes that the account has by its roles, within its bound. */
export function scopesOfAccount({ roles, scopesMax }: AccountGrant): ReadonlySet<Scope> {
  const brought = roles.flatMap((role) => scopesOfRole(role));
  return new Set(scopesMax.length === 0 ? brought : brought.filter((scope) => scopesMax.includes(scope)));
}

/** Shows the account to its owner: REST, GraphQL and events share this view. */
export const viewAccount = viewOf(AccountResource, (_: Account) => ({
  links: { self: "/api/account/", settings: "/api/account/settings/", api_keys: "/api/account/api-keys/" },
}));

/** The validator of the account's view. It contains the id because one path shows each caller their own account. */
export const etagOfAccount = (account: Account): string => strongEtag(account.revision, `account ${account.id}`);

export const viewSettings = viewOf(AccountSettingsResource, ({ productUpdates, settingsUpdatedAt }: Account) => ({
  notifications: { product_updates: productUpdates },
  updated_at: settingsUpdatedAt.toISOString(),
  links: { self: "/api/account/settings/", account: "/api/account/" },
}));

export const etagOfSettings = (account: Account): string =>
  strongEtag(account.settingsRevision, `account-settings ${account.id}`);
