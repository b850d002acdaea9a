import { type Queryable, sql } from "@signalbox/storage";
import type { Account } from "../accounts/account.ts";
import type { AccountService } from "../context/account-service.ts";

const rolesOfMember = sql("sign-in-rules.roles-of-member", "select role from memberships where member_id = $1");

// The rules of sign-ins at the built-in issuer. They are live properties, and hold for step-ups by code too.

/** Returns true when passkeys are a way in. */
export function allowsPasskeys({ configuration }: AccountService): boolean {
  const roles = configuration.get("account.sign-in.passkey-roles");
  return roles.length > 0 || configuration.get("account.sign-in.methods").includes("passkey");
}

/** Returns true when this person needs a passkey: a mailed code does not show who they are. */
export async function needsPasskey(
  { configuration }: AccountService,
  db: Queryable,
  { id, roles }: Pick<Account, "id" | "roles">,
): Promise<boolean> {
  if (!configuration.get("account.sign-in.methods").includes("code")) return true;
  const listed = new Set(configuration.get("account.sign-in.passkey-roles"));
  if (listed.size === 0) return false;
  if (roles.some((role) => listed.has(role))) return true;
  return (await db.query<{ role: string }>(rolesOfMember, [id])).rows.some(({ role }) => listed.has(role));
}
