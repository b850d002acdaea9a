import { type Caller, requireScopes, requireStepUp } from "@signalbox/auth";
import { type Role, roles as roleNames, scopesOfRole } from "@signalbox/contracts";
import type { Refusal } from "@signalbox/http";
import { conflict } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { type Account, type AccountGrant, scopesOfAccount } from "../accounts/account.ts";
import { actorOf, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { withRolesElsewhere } from "../identities/identities.ts";
import { isLastAdministrator, refusedLastAdministrator } from "../statuses/statuses.ts";
import { type AccountByAdministrator, changeReference, type ReferenceOutcome } from "./account-reference.ts";

type ChangeOutcome = RolesOutcome | ReferenceOutcome;

type RolesOutcome =
  | { outcome: "changed"; account: Account }
  | { outcome: "last-administrator" | "roles-by-issuer" | "erased" };

/** The audit actions of a change of roles. */
export const roleActions = ["account.grant_role", "account.take_role"] as const;

/** Changes what only administrators change: the roles, their bound, and the reference to another system. */
export async function changeByAdministrator(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  changes: AccountByAdministrator,
): Promise<ChangeOutcome> {
  const { roles: wanted = account.roles, scopes_max: max } = changes;
  const roles = roleNames.filter((role) => wanted.includes(role));
  const scopesMax = max === undefined ? account.scopesMax : (max ?? []);
  const set = await setAccess(service, tx, caller, account, { roles, scopesMax });
  return set.outcome === "changed" ? changeReference(service, tx, caller, set.account, changes) : set;
}

/**
 * Sets the roles of a locked account and their bound. Administrators cannot grant more than they have themselves.
 * Every service looks the account's credentials up again: tokens and keys alike lose the scopes that are taken.
 */
async function setAccess(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
  wanted: AccountGrant,
): Promise<RolesOutcome> {
  const { clock, accountStore } = service;
  const granted = wanted.roles.filter((role) => !account.roles.includes(role));
  const taken = account.roles.filter((role) => !wanted.roles.includes(role));
  const isSameBound = wanted.scopesMax.join() === account.scopesMax.join();
  if (granted.length + taken.length === 0 && isSameBound) return { outcome: "changed", account };
  requireStepUp(caller, clock);
  const [had, has] = [scopesOfAccount(account), scopesOfAccount(wanted)];
  const gained = [...has].filter((scope) => !had.has(scope));
  requireScopes(caller, [...new Set([...granted.flatMap((role) => scopesOfRole(role)), ...gained])]);
  const elsewhere = await withRolesElsewhere(service, tx, [account.id]);
  if (elsewhere.has(account.id) && granted.length + taken.length > 0) return { outcome: "roles-by-issuer" };
  if (account.purgeBegunAt !== null) return { outcome: "erased" };
  const stepsDown = had.has("account:admin") && !has.has("account:admin");
  if ((taken.includes("admin") || stepsDown) && (await isLastAdministrator(service, tx, caller, account))) {
    return { outcome: "last-administrator" };
  }
  const changed = await invalidateAccess(service, tx, { ...account, ...wanted });
  await accountStore.save(tx, changed);
  await recordRoles(service, tx, caller, account.id, [granted, taken], isSameBound);
  return { outcome: "changed", account: changed };
}

async function recordRoles(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  accountId: string,
  roles: readonly Role[][],
  isSameBound: boolean,
) {
  const by = actorOf(caller, "administrator");
  for (const [at, action] of roleActions.entries()) {
    const reason = roles[at]?.join(" ");
    if (reason) await recordInAudit(service, tx, by, { action, accountId, fields: ["roles"], reason });
  }
  if (!isSameBound)
    await recordInAudit(service, tx, by, { action: "account.update", accountId, fields: ["scopes_max"] });
}

/** Maps a refused change of roles to its answer. */
export function refusedRoles({ outcome }: Exclude<RolesOutcome, { outcome: "changed" }>): Refusal {
  switch (outcome) {
    case "last-administrator":
      return refusedLastAdministrator("roles");
    case "roles-by-issuer":
      return conflict(
        "roles",
        "roles_by_issuer",
        "Roles come from the tokens of the identity provider. Change them there.",
      );
    case "erased":
      return conflict("roles", "account_deleted", "The account is being erased.");
  }
}
