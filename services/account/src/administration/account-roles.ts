import { type Caller, requireScopes, requireStepUp } from "@signalbox/auth";
import { type Role, roles as roleNames, scopesOfRole } from "@signalbox/contracts";
import type { Clock } from "@signalbox/core";
import type { Refusal } from "@signalbox/http";
import { conflict } from "@signalbox/service";
import type { Tx } from "@signalbox/storage";
import { z } from "zod";
import type { AccessAnnouncements } from "../access/access-announcements.ts";
import type { Account } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/account-store.ts";
import { type Audit, actorOf } from "../audit/audit.ts";
import { type LastAdministrator, refusedLastAdministrator } from "./last-administrator.ts";

interface AccountRolesDependencies {
  readonly accountStore: Pick<AccountStore, "save">;
  readonly access: Pick<AccessAnnouncements, "invalidate">;
  readonly audit: Pick<Audit, "record">;
  readonly clock: Clock;
  readonly lastAdministrator: LastAdministrator;
  /** True when roles are granted here. With another issuer its tokens bring them. */
  readonly rolesAreOurs: boolean;
}

export type RolesOutcome =
  | { outcome: "changed"; account: Account }
  | { outcome: "last-administrator" | "roles-by-issuer" | "erased" };

/** The complete list of roles that an administrator sets; absent, none changes. */
export const RolesByAdministrator = z.strictObject({
  roles: z
    .array(z.enum(roleNames))
    .min(1)
    .max(roleNames.length)
    .meta({ description: "All roles of the account.", examples: [["owner", "operator"]] })
    .optional(),
});

/** The audit actions of a change of roles. */
export const roleActions = ["account.grant_role", "account.take_role"] as const;

export type AccountRoles = ReturnType<typeof createAccountRoles>;

/** The roles of accounts, which administrators grant and take. */
export function createAccountRoles(dependencies: AccountRolesDependencies) {
  const { accountStore, access, audit, clock, lastAdministrator, rolesAreOurs } = dependencies;

  return {
    /**
     * Sets the roles of a locked account. Administrators cannot grant more than they have themselves. Every service
     * looks the account's credentials up again: tokens and keys alike lose the scopes of a revoked role.
     */
    async set(tx: Tx, caller: Caller, account: Account, wanted: readonly Role[]): Promise<RolesOutcome> {
      const roles = roleNames.filter((role) => wanted.includes(role));
      const granted = roles.filter((role) => !account.roles.includes(role));
      const taken = account.roles.filter((role) => !roles.includes(role));
      if (granted.length + taken.length === 0) return { outcome: "changed", account };
      requireStepUp(caller, clock);
      requireScopes(caller, [...new Set(granted.flatMap((role) => scopesOfRole(role)))]);
      if (!rolesAreOurs) return { outcome: "roles-by-issuer" };
      if (account.purgeBegunAt !== null) return { outcome: "erased" };
      if (taken.includes("admin") && (await lastAdministrator.isLast(tx, caller, account))) {
        return { outcome: "last-administrator" };
      }
      const changed = await access.invalidate(tx, { ...account, roles });
      await accountStore.save(tx, changed);
      const by = actorOf(caller, "administrator");
      for (const [at, action] of roleActions.entries()) {
        const reason = [granted, taken][at]?.join(" ");
        if (reason) await audit.record(tx, by, { action, accountId: account.id, fields: ["roles"], reason });
      }
      return { outcome: "changed", account: changed };
    },
  };
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
        "Roles come with the tokens of the identity provider. Change them there.",
      );
    case "erased":
      return conflict("roles", "account_deleted", "The account is being erased.");
  }
}
