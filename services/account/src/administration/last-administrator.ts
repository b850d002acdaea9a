import type { Caller } from "@signalbox/auth";
import type { Refusal } from "@signalbox/http";
import { advisoryLock, sql, type Tx } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";

/** Tells the only administrator, whom nobody could bring back. */
export interface LastAdministrator {
  /** Says that without this locked account there is no administrator. Until the transaction ends no other one ceases. */
  isLast(tx: Tx, caller: Caller, account: Account): Promise<boolean>;
}

const findAnother = sql(
  "administrators.find-another",
  `select 1 from accounts where status = 'active' and 'admin' = any (roles) and id <> $1 limit 1`,
);

/** @param rolesAreOurs whether accounts have their roles from here, or people from the issuer of their tokens */
export function createLastAdministrator(rolesAreOurs: boolean): LastAdministrator {
  return {
    async isLast(tx, caller, account) {
      if (account.status !== "active" || !account.roles.includes("admin")) return false;
      if (!rolesAreOurs && isAnotherByIssuer(caller, account)) return false;
      // Two who take the role from each other would both still see the other one.
      await advisoryLock(tx, "the last administrator");
      return (await tx.query(findAnother, [account.id])).rowCount === 0;
    },
  };
}

/** Another issuer's administrators are known when they act, and from nothing else. */
function isAnotherByIssuer({ accountId, credential, roles }: Caller, account: Account): boolean {
  return credential.kind === "token" && roles.includes("admin") && accountId !== account.id;
}

/** Why the only administrator stays as it is. */
export function refusedLastAdministrator(field: "status" | "roles"): Refusal {
  const message = "This is the only administrator. Make another account an administrator first.";
  return { code: "conflict", message, details: [{ field, code: "last_administrator", message }] };
}
