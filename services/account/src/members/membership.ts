import { draft, type EventDraft, examples, isMemberRole, type MemberRole, memberRoles } from "@signalbox/contracts";
import { strongEtag } from "@signalbox/http";
import { z } from "zod";

/** A person who may act for an account that is not their own. */
export interface Membership {
  readonly id: string;
  readonly accountId: string;
  /** The person's own account. */
  readonly memberId: string;
  readonly role: MemberRole;
  readonly createdAt: Date;
  /** The own account of the person who invited. */
  readonly invitedBy: string | null;
}

/** A membership with the names of both sides. */
export interface NamedMembership extends Membership {
  readonly accountName: string;
  readonly memberName: string;
}

export type MembershipRow<M extends Membership = Membership> = Omit<M, "role"> & { readonly role: string };

/** A role that this version does not know brings the least. */
export const membershipFrom = <M extends Membership>(row: MembershipRow<M>): M =>
  ({ ...row, role: isMemberRole(row.role) ? row.role : "viewer" }) as unknown as M;

export const MemberPatch = z
  .strictObject({ role: z.enum(memberRoles).describe("The new role.") })
  .register(examples, { example: { role: "developer" } });

export const etagOfMembership = ({ id, role }: Membership): string => strongEtag(role, id);

function about({ id, accountId, memberId, role, createdAt, invitedBy }: Membership, changed: string[]) {
  const times = { created_at: createdAt.toISOString(), invited_by: invitedBy };
  return { id, account_id: accountId, member_id: memberId, role, ...times, changed };
}

/** The events of an account's members; names are left out. */
export const memberEvents = {
  joined: (member: Membership): EventDraft<"member.joined"> =>
    draft("member.joined", { subject: member.accountId, accountId: member.accountId, data: about(member, []) }),
  roleChanged(member: Membership, previous: MemberRole): EventDraft<"member.role_changed"> {
    const data = { ...about(member, ["role"]), previous_role: previous };
    return draft("member.role_changed", { subject: member.accountId, accountId: member.accountId, data });
  },
  left(member: Membership, reason: "left" | "removed" | "deleted"): EventDraft<"member.left"> {
    const data = { ...about(member, []), reason };
    return draft("member.left", { subject: member.accountId, accountId: member.accountId, data });
  },
};
