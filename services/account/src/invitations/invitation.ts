import type { Caller } from "@signalbox/auth";
import {
  dateInput,
  displayName,
  draft,
  exampleOf,
  examples,
  InvitationResource,
  invitationRoles,
  isMemberRole,
  isRole,
  isScope,
  type MemberRole,
  type Role,
  roles,
  type Scope,
  scopes,
  scopesOfRole,
  viewOf,
} from "@signalbox/contracts";
import { hours, randomId } from "@signalbox/core";
import { z } from "zod";
import { type Account, type AccountGrant, scopesOfAccount } from "../accounts/account.ts";
import { canonicalAddress, checkContactAddress } from "../accounts/account-fields.ts";
import { digestLinkToken, newLinkToken } from "../contacts/contact-link.ts";
import type { AccountService } from "../context/account-service.ts";
import { ruledText, supportedLocale } from "../profile/account-body.ts";

/** An invitation of a person: to this deployment by an administrator, or into an account by one of its owners. */
export interface Invitation {
  readonly id: string;
  /** The administrator's account, or the one that the person joins. */
  readonly accountId: string;
  /** The role in the inviting account; null for an invitation to this deployment. */
  readonly memberRole: MemberRole | null;
  /** The own account of the person who invited into an account. */
  readonly inviterId: string | null;
  /** SHA-256 of the token of its newest link. */
  readonly digest: Uint8Array;
  /** Null for a link that is passed on by hand. */
  readonly address: string | null;
  readonly canonicalAddress: string | null;
  /** The person's name, offered at their first sign-in. */
  readonly name: string | null;
  /** The role of the own account; of an invitation into an account the least, which an older version would bring. */
  readonly role: Role;
  /** The scopes that the role brings at most; empty for all of them. */
  readonly scopesMax: readonly Scope[];
  readonly locale: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Times of its mails. */
  readonly mailed: readonly Date[];
  readonly acceptedAt: Date | null;
  readonly acceptedBy: string | null;
  readonly revokedAt: Date | null;
}

export type InvitationRow = Omit<Invitation, "role" | "memberRole" | "scopesMax"> & {
  readonly role: string;
  readonly memberRole: string | null;
  readonly scopesMax: readonly string[];
};

/** A role that this version does not know brings the least. */
export const invitationFrom = (row: InvitationRow): Invitation => ({
  ...row,
  role: isRole(row.role) ? row.role : "viewer",
  memberRole: row.memberRole === null || isMemberRole(row.memberRole) ? row.memberRole : "viewer",
  scopesMax: row.scopesMax.filter(isScope),
});

/** The path of the pages, below which the browser sends the session cookie of the built-in issuer. */
export const invitationsPath = "/oauth/invitations";

const defaultLifeMs = hours(7 * 24);
const longestLifeMs = hours(30 * 24);

export const newInvitation = ({ configuration }: AccountService) =>
  z.strictObject({
    address: ruledText(checkContactAddress)
      .nullable()
      .default(null)
      .describe("The address to mail; null, or absent, for a link to pass on by hand, which the answer shows once."),
    name: displayName
      .nullable()
      .default(null)
      .describe("The person's name, which they can change at the first sign-in; null, or absent, when unknown."),
    account_id: z
      .string()
      .nullable()
      .default(null)
      .describe(
        "`mine`, or the id of the account that the credential acts for: the person becomes its member. Null, or absent, to invite to this deployment.",
      ),
    role: z
      .enum(invitationRoles)
      .optional()
      .describe(
        "The role of the new account, or one more of an existing account; default: `owner`. With `account_id` that of the member: `viewer`, `developer` or `owner`, without a default.",
      ),
    scopes_max: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .nullable()
      .default(null)
      .describe("Upper limit on the scopes of the role; null, or absent, for all of them."),
    locale: supportedLocale(configuration)
      .optional()
      .meta({ description: "The language of the mail; default: the deployment's.", examples: ["en"] }),
    expires_at: dateInput
      .optional()
      .describe("End of the invitation, at most 30 days from now; default: 7 days from now."),
  });

export type NewInvitation = z.output<ReturnType<typeof newInvitation>>;

/** The fault of a requested end; null for a good one. */
export function faultOfEnd(expiresAt: Date | undefined, now: Date): "passed" | "too_big" | null {
  if (expiresAt === undefined) return null;
  if (expiresAt <= now) return "passed";
  return expiresAt.getTime() - now.getTime() > longestLifeMs ? "too_big" : null;
}

/** A new link of an invitation: the only copy of its token. */
export function newLink(): { readonly token: string; readonly digest: Buffer } {
  const token = newLinkToken();
  return { token, digest: digestLinkToken(token) };
}

/** The account that invites, and the person who invites into it. */
interface InvitationOrigin {
  readonly accountId: string;
  readonly inviterId: string;
  readonly digest: Buffer;
  readonly locale: string;
  readonly now: Date;
}

export function startInvitation(
  { address, role = "owner", ...wanted }: NewInvitation,
  { accountId, inviterId, digest, locale, now }: InvitationOrigin,
): Invitation {
  const isOfMember = wanted.account_id !== null;
  return {
    id: randomId("inv"),
    accountId,
    memberRole: isOfMember && isMemberRole(role) ? role : null,
    inviterId: isOfMember ? inviterId : null,
    digest,
    address,
    canonicalAddress: address === null ? null : canonicalAddress(address),
    name: wanted.name,
    role: !isOfMember && isRole(role) ? role : "viewer",
    scopesMax: wanted.scopes_max ?? [],
    locale: wanted.locale ?? locale,
    createdAt: now,
    expiresAt: wanted.expires_at ?? new Date(now.getTime() + defaultLifeMs),
    mailed: address === null ? [] : [now],
    acceptedAt: null,
    acceptedBy: null,
    revokedAt: null,
  };
}

/** The invitation with another link, which ends the earlier one, for seven days or until its present end. */
export function renewed(invitation: Invitation, digest: Buffer, now: Date): Invitation {
  const { expiresAt, address, mailed } = invitation;
  const end = new Date(Math.max(expiresAt.getTime(), now.getTime() + defaultLifeMs));
  return { ...invitation, digest, expiresAt: end, mailed: address === null ? mailed : [...mailed, now] };
}

export function statusOfInvitation(invitation: Invitation, now: Date): InvitationResource["status"] {
  if (invitation.acceptedAt !== null) return "accepted";
  if (invitation.revokedAt !== null) return "revoked";
  return invitation.expiresAt <= now ? "expired" : "open";
}

export const scopesOfInvitation = ({ role, scopesMax }: Invitation): readonly Scope[] =>
  scopesOfRole(role).filter((scope) => scopesMax.length === 0 || scopesMax.includes(scope));

/** The roles and the bound of a new account that accepts. */
export const grantOfNew = ({ role, scopesMax }: Invitation): AccountGrant => ({ roles: [role], scopesMax });

/** Returns true for an invitation into the account that the caller owns. */
export const isOfOwnAccount = ({ scopes, accountId }: Caller, invitation: Invitation): boolean =>
  invitation.memberRole !== null && invitation.accountId === accountId && scopes.has("account:security");

/**
 * The roles and the bound of an existing account that accepts: what it has stays, and the role adds no more than the
 * invitation's scopes.
 */
export function grantOfExisting(account: AccountGrant, invitation: Invitation): AccountGrant {
  const wanted = roles.filter((role) => role === invitation.role || account.roles.includes(role));
  const added = scopesOfInvitation(invitation);
  const isUnbounded = account.scopesMax.length === 0 && added.length === scopesOfRole(invitation.role).length;
  const had = account.scopesMax.length === 0 ? scopesOfAccount(account) : new Set(account.scopesMax);
  const scopesMax = isUnbounded ? [] : scopes.filter((scope) => had.has(scope) || added.includes(scope));
  return { roles: wanted, scopesMax };
}

/** Returns true when the account holds the invited address; a link is for every account. */
export function isFor({ canonicalAddress: invited }: Invitation, account: Account): boolean {
  const { contactAddress, contactAddressVerified } = account;
  if (invited === null) return true;
  return contactAddress !== null && contactAddressVerified && canonicalAddress(contactAddress) === invited;
}

/** Shows an invitation to administrators and owners. */
export const viewInvitation = viewOf(InvitationResource, (invitation: Invitation, now: Date) => ({
  account_id: invitation.memberRole && invitation.accountId,
  role: invitation.memberRole ?? invitation.role,
  scopes_max: invitation.scopesMax.length === 0 ? null : [...invitation.scopesMax],
  status: statusOfInvitation(invitation, now),
  invited_by: invitation.inviterId ?? invitation.accountId,
  mailed_at: invitation.mailed.at(-1)?.toISOString() ?? null,
}));

const about = ({ id: subject, accountId }: Invitation) => ({ subject, accountId });

/** Events name the role of the own account; those of members are `member.invited` and what follows it. */
function viewInEvent(invitation: Invitation, now: Date, changed: string[]) {
  const { account_id: _, name: _name, ...view } = viewInvitation(invitation, now);
  return { ...view, role: invitation.role, changed };
}

export const invitationEvents = {
  created: (invitation: Invitation, now: Date) =>
    draft("invitation.created", { ...about(invitation), data: viewInEvent(invitation, now, []) }),
  memberInvited({ id, accountId, memberRole, inviterId, expiresAt }: Invitation) {
    const role = { role: memberRole ?? "viewer", invited_by: inviterId };
    const data = {
      account_id: accountId,
      invitation_id: id,
      ...role,
      expires_at: expiresAt.toISOString(),
      changed: [],
    };
    return draft("member.invited", { subject: accountId, accountId, data });
  },
  accepted(invitation: Invitation, now: Date) {
    const changed = ["status", "accepted_at", "accepted_by"];
    return draft("invitation.accepted", { ...about(invitation), data: viewInEvent(invitation, now, changed) });
  },
  revoked(invitation: Invitation, now: Date) {
    const changed = ["status", "revoked_at"];
    return draft("invitation.revoked", { ...about(invitation), data: viewInEvent(invitation, now, changed) });
  },
};

/** An invitation with its link, which is shown once, and only when nobody mails it. */
export const InvitationWithLink = InvitationResource.extend({
  url: z.string().nullable().describe("The link to pass on, shown only once; null when it is mailed."),
})
  .meta({ id: "InvitationWithLink" })
  .register(examples, { example: { ...exampleOf(InvitationResource), url: null } });
