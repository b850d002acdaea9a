import type { AdministeredAccountResource } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";
import { type Account, viewAccount } from "../accounts/account.ts";

/** The account as administrators see it. */
export function viewAdministered(account: Account): AdministeredAccountResource {
  const self = `/api/accounts/${account.id}`;
  return {
    ...viewAccount(account),
    status_changed_at: account.statusChangedAt?.toISOString() ?? null,
    status_changed_by: account.statusActor,
    status_reason: account.statusReason,
    recovery_requested_at: account.recoveryRequestedAt?.toISOString() ?? null,
    purged_at: account.purgedAt?.toISOString() ?? null,
    links: { self, status: `${self}/status`, audit: `${self}/audit/` },
  };
}

/** A request for recovery moves this validator and not the owner's, who sees nothing of it. */
export function etagOfAdministered({ id, revision, recoveryRequestedAt }: Account): string {
  return strongEtag(revision, `administered-account ${id} ${recoveryRequestedAt?.getTime() ?? ""}`);
}
