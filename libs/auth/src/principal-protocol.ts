import { accountStates, memberRoles, roles, scopes } from "@signalbox/contracts";
import { z } from "zod";
import { credentialBytesMax } from "./credential.ts";
import type { Principal, PrincipalCredential } from "./principal.ts";

/** The path on the internal listener of the account service. */
export const principalsPath = "/internal/principals";

/** `POST /internal/principals`: resolves a credential. */
export const PrincipalQuestion = z.strictObject({
  kind: z.enum(["bearer", "api-key", "basic"]),
  value: z.string().min(1).max(credentialBytesMax),
});

export const PrincipalAnswer = z.object({
  account_id: z.string(),
  state: z.enum(accountStates),
  state_change: z.object({ at: z.iso.datetime(), reason: z.string().nullable() }).optional(),
  epoch: z.int().min(0),
  scopes: z.array(z.enum(scopes)),
  roles: z.array(z.enum(roles)),
  credential: z.object({
    kind: z.enum(["token", "api-key", "client", "portal"]),
    id: z.string(),
    token_id: z.string().optional(),
    issuer: z.string().optional(),
    auth_time: z.iso.datetime().nullable(),
    issued_at: z.iso.datetime().optional(),
  }),
  member: z.object({ account_id: z.string(), role: z.enum(memberRoles), epoch: z.int().min(0) }).optional(),
  portal: z.object({ endpoint_ids: z.array(z.string()).nullable() }).optional(),
  expires_at: z.iso.datetime().nullable(),
  profile: z.object({ locale: z.string(), created_at: z.iso.datetime() }).optional(),
});

/** The path that reports whether the state topic lacks changes. */
export const announcementsPath = "/internal/access-announcements";

/** `GET /internal/access-announcements`. */
export const AnnouncementsAnswer = z.object({ unannounced: z.boolean() });

/** The path that finds the accounts of administrators. */
export const administratorsPath = "/internal/administrators";

/** `POST /internal/administrators`: selects the accounts that may administer all others. */
export const AdministratorsQuestion = z.strictObject({ account_ids: z.array(z.string()).max(1_000) });

export const AdministratorsAnswer = z.object({
  administrators: z
    .array(z.string())
    .nullable()
    .describe("Null where roles come with tokens and account does not know them."),
});

export type PrincipalAnswer = z.output<typeof PrincipalAnswer>;

/** The principal in the form in which it crosses the network. */
export function answerFromPrincipal(principal: Principal): PrincipalAnswer {
  const { profile, member, portal, stateChange: change } = principal;
  const { kind, id, tokenId, issuer, authTimeMs, issuedAtMs } = principal.credential;
  return {
    account_id: principal.accountId,
    state: principal.state,
    state_change: change && { at: new Date(change.atMs).toISOString(), reason: change.reason },
    epoch: principal.epoch,
    scopes: [...principal.scopes],
    roles: [...principal.roles],
    credential: {
      kind,
      id,
      token_id: tokenId,
      issuer,
      auth_time: authTimeMs === null ? null : new Date(authTimeMs).toISOString(),
      issued_at: issuedAtMs === undefined ? undefined : new Date(issuedAtMs).toISOString(),
    },
    member: member && { account_id: member.accountId, role: member.role, epoch: member.epoch },
    portal: portal && { endpoint_ids: portal.endpointIds && [...portal.endpointIds] },
    expires_at: principal.expiresAt?.toISOString() ?? null,
    profile: profile && { locale: profile.locale, created_at: new Date(profile.createdAtMs).toISOString() },
  };
}

export function principalFromAnswer(answer: PrincipalAnswer): Principal {
  const { profile, member, portal, state_change: change } = answer;
  const { kind, id, token_id, issuer, auth_time, issued_at } = answer.credential;
  const credential: Writable<PrincipalCredential> = {
    kind,
    id,
    authTimeMs: auth_time === null ? null : Date.parse(auth_time),
  };
  if (token_id !== undefined) credential.tokenId = token_id;
  if (issuer !== undefined) credential.issuer = issuer;
  if (issued_at !== undefined) credential.issuedAtMs = Date.parse(issued_at);
  const principal: Writable<Principal> = {
    accountId: answer.account_id,
    state: answer.state,
    epoch: answer.epoch,
    scopes: new Set(answer.scopes),
    roles: answer.roles,
    credential,
    expiresAt: answer.expires_at === null ? null : new Date(answer.expires_at),
  };
  if (change) principal.stateChange = { atMs: Date.parse(change.at), reason: change.reason };
  if (member) principal.member = { accountId: member.account_id, role: member.role, epoch: member.epoch };
  if (portal) principal.portal = { endpointIds: portal.endpoint_ids };
  if (profile) principal.profile = { locale: profile.locale, createdAtMs: Date.parse(profile.created_at) };
  return principal;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };
