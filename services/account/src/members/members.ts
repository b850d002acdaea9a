import { type Caller, personOf, requireScopes } from "@signalbox/auth";
import { type MemberRole, type Scope, scopesOfMember } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import type { Tx } from "@signalbox/storage";
import { invalidateAccess } from "../access/access-announcements.ts";
import { type Account, type AccountGrant, scopesOfAccount } from "../accounts/account.ts";
import { type Actor, recordInAudit } from "../audit/audit-log.ts";
import type { AccountService } from "../context/account-service.ts";
import { identitiesOf } from "../identities/identity.ts";
import { type Membership, memberEvents } from "./membership.ts";
import {
  deleteMembership,
  findMembershipOf,
  hasOtherOwner,
  insertMembership,
  membershipsOf,
  saveMemberRole,
} from "./membership-store.ts";

/** A member, and the locked account. */
export interface HeldMember {
  readonly account: Account;
  readonly membership: Membership;
}

type RoleOutcome = { outcome: "changed"; membership: Membership } | { outcome: "last-owner" };
type RemoveOutcome = { outcome: "removed" } | { outcome: "last-owner" };

/** Enough for the people of one account, few enough to be read at once. */
export const membersMax = 200;

// The people of an account. Every change makes all services look the account's credentials up again, so a role that was
// taken ends within two seconds.

/** The scopes of a member: those of the role that the account has itself. */
export function scopesOfMemberIn(account: AccountGrant, role: MemberRole): readonly Scope[] {
  const had = scopesOfAccount(account);
  return scopesOfMember(role).filter((scope) => had.has(scope));
}

/** Makes a person a member of a locked account, or gives a member the new role. */
export async function joinAccount(
  service: AccountService,
  tx: Tx,
  account: Account,
  joining: Pick<Membership, "memberId" | "role" | "invitedBy">,
  by: Actor,
): Promise<void> {
  const known = await findMembershipOf(tx, account.id, joining.memberId);
  if (known) return setRole(service, tx, { account, membership: known }, joining.role, by);
  const membership = { id: randomId("mbr"), accountId: account.id, ...joining, createdAt: service.clock.now() };
  await insertMembership(tx, membership);
  const entry = { action: "member.join", accountId: account.id, subject: membership.id } as const;
  await recordInAudit(service, tx, by, { ...entry, reason: joining.role });
  await service.outbox.append(tx, [memberEvents.joined(membership)]);
}

/** Changes the role of a member; the caller gives no more than they have. */
export async function changeMemberRole(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  held: HeldMember,
  role: MemberRole,
): Promise<RoleOutcome> {
  requireScopes(caller, scopesOfMemberIn(held.account, role));
  if (role !== "owner" && (await isLastOwner(tx, held))) return { outcome: "last-owner" };
  await setRole(service, tx, held, role, caller);
  return { outcome: "changed", membership: { ...held.membership, role } };
}

async function setRole(
  service: AccountService,
  tx: Tx,
  { account, membership }: HeldMember,
  role: MemberRole,
  by: Caller | Actor,
): Promise<void> {
  if (role === membership.role) return;
  const changed = { ...membership, role };
  await saveMemberRole(tx, changed);
  await service.accountStore.save(tx, await invalidateAccess(service, tx, account));
  const entry = { action: "member.change_role", accountId: account.id, subject: membership.id } as const;
  await recordInAudit(service, tx, by, { ...entry, fields: ["role"], reason: role });
  await service.outbox.append(tx, [memberEvents.roleChanged(changed, membership.role)]);
}

/** Ends a membership, by the member or by an owner of the account. What the member made stays with the account. */
export async function removeMember(
  service: AccountService,
  tx: Tx,
  caller: Caller,
  held: HeldMember,
): Promise<RemoveOutcome> {
  if (await isLastOwner(tx, held)) return { outcome: "last-owner" };
  const { account, membership } = held;
  const leaves = membership.memberId === personOf(caller);
  await deleteMembership(tx, membership.id);
  await service.accountStore.save(tx, await invalidateAccess(service, tx, account));
  const action = leaves ? "member.leave" : "member.remove";
  await recordInAudit(service, tx, caller, { action, accountId: account.id, subject: membership.id });
  await service.outbox.append(tx, [memberEvents.left(membership, leaves ? "left" : "removed")]);
  return { outcome: "removed" };
}

/** Ends every membership of a person whose own account is purged; their tokens have ended with its deletion. */
export async function endMembershipsOf({ outbox }: AccountService, tx: Tx, memberId: string): Promise<void> {
  for (const membership of await membershipsOf(tx, memberId)) {
    await deleteMembership(tx, membership.id);
    await outbox.append(tx, [memberEvents.left(membership, "deleted")]);
  }
}

/** The person of an account with a login owns it; one that was made without a person is owned by its members. */
async function isLastOwner(tx: Tx, { account, membership }: HeldMember): Promise<boolean> {
  if (membership.role !== "owner" || (await identitiesOf(tx, account.id)).length > 0) return false;
  return !(await hasOtherOwner(tx, membership));
}
