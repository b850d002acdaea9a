import { z } from "zod";
import { memberRoles, roles, scopes } from "../access/scopes.ts";
import { createdBy, examples, identifier, liveValues, timestamp } from "./fields.ts";

/** An API key without its secret, which is shown once, on creation and rotation. */
export const ApiKeyResource = z
  .object({
    id: identifier("The key"),
    name: z.string().describe("The name that its owner gave it."),
    hint: z.string().describe("The first characters of the key, enough to recognise it."),
    scopes: z.array(z.enum(scopes)).describe("The scopes of the key."),
    roles: z.array(z.enum(roles)).describe("The roles of the key."),
    status: z
      .enum(["active", "revoked", "expired"])
      .describe("The state of the credential; only an active one is accepted."),
    created_at: timestamp,
    created_by: createdBy,
    expires_at: timestamp.nullable().describe("The time when it expires; null for never."),
    last_used_at: timestamp.nullable().describe("Time of its last use, to the minute."),
    revoked_at: timestamp.nullable().describe("The time of its revocation; null if it was not revoked."),
    replaces: identifier("The key that this one replaces").nullable(),
    replaced_by: identifier("The key that replaces this one").nullable(),
  })
  .meta({ id: "ApiKey", description: "An API key, without its secret." });

export type ApiKeyResource = z.output<typeof ApiKeyResource>;

export const apiKeyExample: ApiKeyResource = {
  id: "key_2hTq8LcN5wYfKb0ZrVxPsd",
  name: "deploy",
  hint: "sbx_live_7Qm2",
  scopes: ["images:read", "images:write"],
  roles: [],
  status: "active",
  created_at: "2026-01-01T09:00:00.000Z",
  created_by: "person",
  expires_at: null,
  last_used_at: null,
  revoked_at: null,
  replaces: null,
  replaced_by: null,
};

examples.add(ApiKeyResource, { example: apiKeyExample });

/** A service client without its secret, which is shown once, on creation and rotation. */
export const ServiceClientResource = z
  .object({
    id: identifier("The client, its `client_id` at the token endpoint"),
    name: z.string().describe("The name that its owner gave it."),
    scopes: z.array(z.enum(scopes)).describe("The scopes that its tokens may have."),
    status: z
      .enum(["active", "revoked", "expired"])
      .describe("The state of the credential; only an active one is accepted."),
    created_at: timestamp,
    created_by: createdBy,
    expires_at: timestamp.nullable().describe("The time when it expires; null for never."),
    secrets: liveValues("secrets"),
    previous_secret_expires_at: timestamp
      .nullable()
      .describe("Deprecated: use `secrets`. End of the previous secret; null when only one is valid."),
    last_used_at: timestamp.nullable().describe("Time of the last use of its secret, to the minute."),
    revoked_at: timestamp.nullable().describe("The time of its revocation; null if it was not revoked."),
  })
  .meta({
    id: "ServiceClient",
    description: "A program that acts for the account that created it; its secret is left out.",
  })
  .register(examples, {
    example: {
      id: "cli_4nVq2Yc8WfKsR0bZxLtPgd",
      name: "nightly import",
      scopes: ["images:read", "images:write"],
      status: "active",
      created_at: "2026-01-01T09:00:00.000Z",
      created_by: "person",
      expires_at: null,
      secrets: [{ id: "cls_7Lw3Rb0TqNfYp5KcVz8MxJ", created_at: "2026-01-01T09:00:00.000Z", ends_at: null }],
      previous_secret_expires_at: null,
      last_used_at: null,
      revoked_at: null,
    },
  });

export type ServiceClientResource = z.output<typeof ServiceClientResource>;

/** A passkey without its key, as its holder sees it. */
export const PasskeyResource = z
  .object({
    id: identifier("The passkey"),
    name: z.string().describe("The name that its holder gave it."),
    synced: z.boolean().describe("True when it is synced to the holder's other devices."),
    created_at: timestamp.describe("The time at which it was added."),
    last_used_at: timestamp.nullable().describe("The time of its last sign-in; null before the first."),
  })
  .meta({ id: "Passkey", description: "A passkey that signs its holder in, without its key." })
  .register(examples, {
    example: {
      id: "psk_8Vt3Kq1XfLcW5bRyNpJhdZ",
      name: "Phone",
      synced: true,
      created_at: "2026-01-01T09:00:00.000Z",
      last_used_at: null,
    },
  });

export type PasskeyResource = z.output<typeof PasskeyResource>;

/** The credential of a request, as `GET /api/account/credential` shows it to its holder. */
export const CurrentCredentialResource = z
  .object({
    account_id: identifier("The account that it acts for"),
    person_id: identifier("The personal account of the token's owner; null for other credentials").nullable(),
    member_role: z
      .enum(memberRoles)
      .nullable()
      .describe("The person's role in the account; null in their own account, and without a person."),
    kind: z
      .enum(["token", "api-key", "client", "portal"])
      .describe("`token` is a person's access token, `portal` a portal session."),
    id: z.string().describe("The id of the key or client, or the name of the token, as the audit shows it."),
    name: z
      .string()
      .nullable()
      .describe("The name of the key or client, or the browser of the sign-in; null when unknown."),
    sign_in_id: identifier("The sign-in at the built-in issuer that a token comes from").nullable(),
    issuer: z.string().nullable().describe("The name of the token's issuer, `signalbox` for the built-in one."),
    scopes: z.array(z.enum(scopes)).describe("Its current scopes."),
    roles: z.array(z.enum(roles)).describe("Its current roles."),
    expires_at: timestamp.nullable().describe("The time when it expires; null for never."),
    recent_sign_in_until: timestamp
      .nullable()
      .describe(
        "Time until which the sign-in is recent enough for sensitive changes; null when it is not recent, and for keys and clients.",
      ),
  })
  .meta({ id: "CurrentCredential", description: "The credential of this request." })
  .register(examples, {
    example: {
      account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
      person_id: null,
      member_role: null,
      kind: "api-key",
      id: apiKeyExample.id,
      name: apiKeyExample.name,
      sign_in_id: null,
      issuer: null,
      scopes: apiKeyExample.scopes,
      roles: [],
      expires_at: null,
      recent_sign_in_until: null,
    },
  });

export type CurrentCredentialResource = z.output<typeof CurrentCredentialResource>;

/** Looks of the portal: a few values of its own tokens, so that no text of a caller becomes a style. */
const PortalTheme = z
  .strictObject({
    accent: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, "Must be a colour such as #0b57d0.")
      .optional()
      .describe(
        "The colour of buttons and links, such as `#0b57d0`. It is darkened or lightened until it is readable.",
      ),
    radius: z.int().min(0).max(16).optional().describe("The radius of corners in pixels. Default: 6."),
    scheme: z.enum(["auto", "light", "dark"]).default("auto").describe("`auto` follows the subscriber's browser."),
  })
  .meta({ id: "PortalTheme", description: "Appearance of the portal." })
  .register(examples, { example: { accent: "#0b57d0", radius: 8, scheme: "auto" } });

/** A portal session without its link, which is shown once. */
export const PortalSessionResource = z
  .object({
    id: identifier("The session"),
    account_id: identifier("The account whose endpoints it sees"),
    endpoint_ids: z.array(z.string()).nullable().describe("The endpoints that it sees; null for all of the account."),
    access: z
      .enum(["read", "write", "manage"])
      .describe(
        "`read` can view; `write` can also pause, resume, edit, test, retry and replay; `manage` can also change the URL, and reveal and rotate secrets.",
      ),
    theme: PortalTheme,
    status: z
      .enum(["active", "ended", "expired"])
      .describe("The state of the session; only an active one is accepted."),
    created_at: timestamp,
    created_by: createdBy,
    expires_at: timestamp,
    ended_at: timestamp.nullable().describe("The time at which it was ended; null if it was not."),
  })
  .meta({ id: "PortalSession", description: "A portal session, without its link." })
  .register(examples, {
    example: {
      id: "pts_4Mn7RtY2kWq9ZbXc5VfHsJ",
      account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
      endpoint_ids: ["whe_01kdzq5a7m2n4p6q8r0s1t3v5w"],
      access: "write",
      theme: { accent: "#0b57d0", radius: 8, scheme: "auto" },
      status: "active",
      created_at: "2026-01-01T09:00:00.000Z",
      created_by: apiKeyExample.id,
      expires_at: "2026-01-01T10:00:00.000Z",
      ended_at: null,
    },
  });

export type PortalSessionResource = z.output<typeof PortalSessionResource>;
