import type {
  AccountResource,
  AccountSettingsResource,
  AccountState,
  Role,
  TransitionActor,
} from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";

/** An account with its settings, as the operations see it. */
export interface Account {
  readonly id: string;
  readonly displayName: string;
  readonly contactAddress: string | null;
  readonly contactAddressVerified: boolean;
  /** A new address that has not confirmed yet. */
  readonly pendingContactAddress: string | null;
  readonly locale: string;
  readonly timezone: string;
  readonly productUpdates: boolean;
  readonly status: AccountState;
  readonly roles: readonly Role[];
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
  /** When the owner of a disabled account asked to have it back. */
  readonly recoveryRequestedAt: Date | null;
  /** When the owner signed out everywhere: tokens of other issuers that were issued until then are not accepted. */
  readonly signedOutAt: Date | null;
  /** When its purge began, which nothing undoes. */
  readonly purgeBegunAt: Date | null;
  /** When the personal fields were erased: what is left is a tombstone. */
  readonly purgedAt: Date | null;
}

/** The account as its owner sees it: REST, GraphQL and events all show this. */
export function viewAccount(account: Account): AccountResource {
  return {
    id: account.id,
    display_name: account.displayName,
    contact_address: account.contactAddress,
    contact_address_verified: account.contactAddressVerified,
    pending_contact_address: account.pendingContactAddress,
    locale: account.locale,
    timezone: account.timezone,
    status: account.status,
    created_at: account.createdAt.toISOString(),
    updated_at: account.updatedAt.toISOString(),
    links: { self: "/api/account/", settings: "/api/account/settings/", api_keys: "/api/account/api-keys/" },
  };
}

/** The validator of the account's view. The id is part of it: one path shows every caller their own account. */
export const etagOfAccount = (account: Account): string => strongEtag(account.revision, `account ${account.id}`);

/** The settings as their owner sees them. */
export function viewSettings(account: Account): AccountSettingsResource {
  return {
    locale: account.locale,
    timezone: account.timezone,
    notifications: { product_updates: account.productUpdates },
    updated_at: account.settingsUpdatedAt.toISOString(),
    links: { self: "/api/account/settings/", account: "/api/account/" },
  };
}

export const etagOfSettings = (account: Account): string =>
  strongEtag(account.settingsRevision, `account-settings ${account.id}`);
