import type { Caller } from "@signalbox/auth";
import type { Refusal } from "@signalbox/http";
import { conflict } from "@signalbox/service";
import { advisoryLock, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";

const findAnother = sql(
  "administrators.find-another",
  `select 1 from accounts where status = 'active' and 'admin' = any (roles)
     and (scopes_max = '{}' or 'account:admin' = any (scopes_max)) and id <> $1 limit 1`,
);

/**
 * Returns true when this locked account is the only administrator, whom no other account could restore. No other
 * administrator can step down before the transaction ends.
 */
export async function isLastAdministrator(
  { hasIssuer }: AccountService,
  tx: Tx,
  caller: Caller,
  account: Account,
): Promise<boolean> {
  if (account.status !== "active" || !account.roles.includes("admin")) return false;
  if (!hasIssuer && isAnotherByIssuer(caller, account)) return false;
  // Two administrators who revoke each other's role would otherwise each still see the other.
  await advisoryLock(tx, "the last administrator");
  return (await tx.query(findAnother, [account.id])).rowCount === 0;
}

/** Administrators of another issuer are known only while they act. */
function isAnotherByIssuer({ accountId, credential, roles }: Caller, account: Account): boolean {
  return credential.kind === "token" && roles.includes("admin") && accountId !== account.id;
}

/** The refusal of a change that would remove the only administrator. */
export function refusedLastAdministrator(field: "status" | "roles"): Refusal {
  const message = "This is the only administrator. Make another account an administrator first.";
  return conflict(field, "last_administrator", message);
}
