import {
  draft,
  examples,
  InvitationResource,
  invitationExample,
  isRole,
  isScope,
  type Role,
  roles,
  type Scope,
  scopes,
  scopesOfRole,
} from "@signalbox/contracts";
import { hours, randomId } from "@signalbox/core";
import { z } from "zod";
import { type Account, type AccountGrant, scopesOfAccount } from "../accounts/account.ts";
import { canonicalAddress, checkContactAddress, checkLocale } from "../accounts/account-fields.ts";
import { digestLinkToken, newLinkToken } from "../contacts/contact-link.ts";
import type { AccountService } from "../context/account-service.ts";
import { ruledText } from "../profile/account-body.ts";

/** An invitation of a person by an administrator. */
export interface Invitation {
  readonly id: string;
  /** The administrator's account. */
  readonly accountId: string;
  /** SHA-256 of the token of its newest link. */
  readonly digest: Uint8Array;
  /** Null for a link that is passed on by hand. */
  readonly address: string | null;
  readonly canonicalAddress: string | null;
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

export type InvitationRow = Omit<Invitation, "role" | "scopesMax"> & {
  readonly role: string;
  readonly scopesMax: readonly string[];
};

/** A role that this version does not know brings the least. */
export const invitationFrom = (row: InvitationRow): Invitation => ({
  ...row,
  role: isRole(row.role) ? row.role : "viewer",
  scopesMax: row.scopesMax.filter(isScope),
});

/** The path of the pages, below which the browser sends the session cookie of the built-in issuer. */
export const invitationsPath = "/oauth/invitations";

const defaultLifeMs = hours(7 * 24);
const longestLifeMs = hours(30 * 24);

/** The input of a new invitation. */
export const newInvitation = ({ configuration }: AccountService) =>
  z.strictObject({
    address: ruledText(checkContactAddress)
      .nullable()
      .default(null)
      .describe("The address to mail; null, or absent, for a link to pass on by hand, which the answer shows once."),
    role: z.enum(roles).default("owner").describe("The role of the new account, or one more of an existing account."),
    scopes_max: z
      .array(z.enum(scopes))
      .min(1)
      .max(scopes.length)
      .nullable()
      .default(null)
      .describe("The scopes that the role brings at most; null, or absent, for all scopes of the role."),
    locale: ruledText((locale) => checkLocale(configuration.get("supported.locales"))(locale), "unsupported")
      .optional()
      .meta({ description: "The language of the mail; default: the deployment's.", examples: ["en"] }),
    expires_at: z.iso
      .datetime({ offset: true })
      .transform((text) => new Date(text))
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

interface Start {
  readonly accountId: string;
  readonly digest: Buffer;
  readonly locale: string;
  readonly now: Date;
}

/** Builds an invitation as it begins. */
export function startInvitation({ address, role, ...wanted }: NewInvitation, given: Start): Invitation {
  const { accountId, digest, locale, now } = given;
  return {
    id: randomId("inv"),
    accountId,
    digest,
    address,
    canonicalAddress: address === null ? null : canonicalAddress(address),
    role,
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

/** Returns the status of an invitation at `now`. */
export function statusOfInvitation(invitation: Invitation, now: Date): InvitationResource["status"] {
  if (invitation.acceptedAt !== null) return "accepted";
  if (invitation.revokedAt !== null) return "revoked";
  return invitation.expiresAt <= now ? "expired" : "open";
}

/** The scopes that an invitation brings. */
export const scopesOfInvitation = ({ role, scopesMax }: Pick<Invitation, "role" | "scopesMax">): readonly Scope[] =>
  scopesOfRole(role).filter((scope) => scopesMax.length === 0 || scopesMax.includes(scope));

/** The roles and the bound of a new account that accepts. */
export const grantOfNew = ({ role, scopesMax }: Invitation): AccountGrant => ({ roles: [role], scopesMax });

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

/** Shows an invitation to administrators. */
export function viewInvitation(invitation: Invitation, now: Date): InvitationResource {
  return {
    id: invitation.id,
    address: invitation.address,
    role: invitation.role,
    scopes_max: invitation.scopesMax.length === 0 ? null : [...invitation.scopesMax],
    locale: invitation.locale,
    status: statusOfInvitation(invitation, now),
    invited_by: invitation.accountId,
    created_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
    mailed_at: invitation.mailed.at(-1)?.toISOString() ?? null,
    accepted_at: invitation.acceptedAt?.toISOString() ?? null,
    accepted_by: invitation.acceptedBy,
    revoked_at: invitation.revokedAt?.toISOString() ?? null,
  };
}

const about = ({ id: subject, accountId }: Invitation) => ({ subject, accountId });

export const invitationEvents = {
  created: (invitation: Invitation, now: Date) =>
    draft("invitation.created", { ...about(invitation), data: { ...viewInvitation(invitation, now), changed: [] } }),
  accepted(invitation: Invitation, now: Date) {
    const changed = ["status", "accepted_at", "accepted_by"];
    return draft("invitation.accepted", {
      ...about(invitation),
      data: { ...viewInvitation(invitation, now), changed },
    });
  },
  revoked(invitation: Invitation, now: Date) {
    const changed = ["status", "revoked_at"];
    return draft("invitation.revoked", { ...about(invitation), data: { ...viewInvitation(invitation, now), changed } });
  },
};

/** An invitation with its link, which is shown once, and only when nobody mails it. */
export const InvitationWithLink = InvitationResource.extend({
  url: z.string().nullable().describe("The link to pass on, shown only once; null when it is mailed."),
})
  .meta({ id: "InvitationWithLink" })
  .register(examples, { example: { ...invitationExample, url: null } });
