import { type AccountState, draft, type TransitionActor } from "@signalbox/contracts";
import { type Account, viewAccount, viewSettings } from "./account.ts";
import type { ChangedAccount } from "./change-account.ts";

const about = (account: Account) => ({ subject: account.id, accountId: account.id });

/** `changed` has wire names. */
const viewed = (account: Account, changed: readonly string[]) => ({ ...viewAccount(account), changed: [...changed] });

/** An identity was used for the first time. */
export const accountCreated = (account: Account) =>
  draft("account.created", { ...about(account), data: viewed(account, []) });

/** One event per view that changed; none when nothing changed. */
export function accountChanged({ account, accountFields, settingsFields }: ChangedAccount) {
  const updated = draft("account.updated", { ...about(account), data: viewed(account, accountFields) });
  const settings = { ...viewSettings(account), account_id: account.id, changed: [...settingsFields] };
  const settingsUpdated = draft("account.settings_updated", { ...about(account), data: settings });
  return [...(accountFields.length > 0 ? [updated] : []), ...(settingsFields.length > 0 ? [settingsUpdated] : [])];
}

export const accountContactVerified = ({ account, accountFields }: ChangedAccount) =>
  draft("account.contact_verified", { ...about(account), data: viewed(account, accountFields) });

export function accountStatusChanged(account: Account, previous: AccountState, actor: TransitionActor) {
  const data = { ...viewed(account, ["status"]), previous_status: previous, actor };
  return draft("account.status_changed", { ...about(account), data: { ...data, reason: account.statusReason } });
}

/** The account was purged; the event holds its id and its times only. */
export function accountDeleted(account: Account, now: Date) {
  const [created_at, deleted_at] = [account.createdAt.toISOString(), now.toISOString()];
  return draft("account.deleted", { ...about(account), data: { id: account.id, created_at, deleted_at, changed: [] } });
}
