import { canaryAccountId, draft, type EventDraft } from "@signalbox/contracts";

/**
 * Returns the changes of account's canary: an event for a receiver of our own, and an access state for every instance.
 * The state is not applied here at once, as other changes are, because its age shows that the topic is read.
 */
export function canaryChanges(at: Date): EventDraft[] {
  const [accountId, changed_at] = [canaryAccountId, at.toISOString()];
  const access = { kind: "account", id: accountId, account_id: accountId, state: "active", changed_at } as const;
  return [
    draft("account.canary_changed", { subject: accountId, accountId, data: { changed_at } }),
    draft("access.changed", { subject: `account:${accountId}`, accountId, data: { ...access, epoch: at.getTime() } }),
  ];
}
