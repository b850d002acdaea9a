import { createApiKey, digestApiKey, type Portal, type Principal } from "@signalbox/auth";
import { exampleOf, examples, PortalSessionResource, portalEndpointsMax, type Scope } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";
import { z } from "zod";

/** A link into the portal, for an hour at most: a subscriber sees the endpoints of an account, or some of them. */
export interface PortalSession {
  readonly id: string;
  readonly accountId: string;
  /** SHA-256 of the secret in the link, which is not stored. */
  readonly digest: Uint8Array;
  readonly access: PortalSessionResource["access"];
  readonly endpointIds: Portal["endpointIds"];
  readonly theme: PortalSessionResource["theme"];
  readonly createdAt: Date;
  /** The key or client that made it, or `person`. */
  readonly createdBy: string;
  readonly expiresAt: Date;
  readonly endedAt: Date | null;
}

/** Longest life of a link, which anybody may use who gets hold of it. */
const lifeSecondsMax = 3_600;

const { access, theme } = PortalSessionResource.shape;

export const NewPortalSession = z.strictObject({
  endpoint_ids: z
    .array(z.string().regex(/^whe_[0-9a-z]{26}$/, "Must be the id of an endpoint."))
    .min(1)
    .max(portalEndpointsMax)
    .nullable()
    .default(null)
    .meta({
      description: "The endpoints that the session can see; null, or absent, for all of the account.",
      examples: [exampleOf(PortalSessionResource).endpoint_ids],
    }),
  access: access.default("write").describe(access.description ?? ""),
  expires_in_seconds: z
    .int()
    .min(60)
    .max(lifeSecondsMax)
    .default(lifeSecondsMax)
    .describe("Lifetime of the link, at most an hour. It never outlives the key that creates it."),
  theme: theme.default({ scheme: "auto" }),
});

export type NewPortalSession = z.output<typeof NewPortalSession>;

/** The scopes of each access; outside of the portal's own operations they open nothing. */
export const scopesOfAccess: Readonly<Record<PortalSession["access"], readonly Scope[]>> = {
  read: ["webhooks:read"],
  write: ["webhooks:read", "webhooks:write"],
  manage: ["webhooks:read", "webhooks:write", "account:security"],
};

/** Takes the place of the environment in API keys, so that scanners that know our keys find links too. */
export const portalPrefix = "portal";

/** Creates a session with its secret `sbx_portal_…`. */
export function makePortalSession(
  { endpoint_ids, access, expires_in_seconds, theme }: NewPortalSession,
  { accountId, createdBy, endsBy }: { accountId: string; createdBy: string; endsBy: Date | null },
  now: Date,
): { readonly session: PortalSession; readonly secret: string } {
  const secret = createApiKey(portalPrefix);
  const end = new Date(now.getTime() + expires_in_seconds * 1_000);
  const session: PortalSession = {
    id: randomId("pts"),
    accountId,
    digest: digestApiKey(secret),
    access,
    endpointIds: endpoint_ids && [...new Set(endpoint_ids)],
    theme,
    createdAt: now,
    createdBy,
    expiresAt: endsBy !== null && endsBy < end ? endsBy : end,
    endedAt: null,
  };
  return { session, secret };
}

export function statusOfPortalSession(
  { endedAt, expiresAt }: PortalSession,
  now: Date,
): PortalSessionResource["status"] {
  if (endedAt !== null) return "ended";
  return expiresAt <= now ? "expired" : "active";
}

/** The credential of a session. The revocation of the key that made it ends it too, so that key is named with it. */
export const credentialOfPortal = ({ id, createdBy }: PortalSession): Principal["credential"] => ({
  kind: "portal",
  id,
  ...(createdBy !== "person" && { tokenId: createdBy }),
  authTimeMs: null,
});

export const PortalSessionWithUrl = PortalSessionResource.extend({
  url: z
    .string()
    .describe(
      "The link for the subscriber, shown only once. Its fragment is a secret that reaches no server and no log.",
    ),
})
  .meta({ id: "PortalSessionWithUrl", description: "A portal session with its link, shown only once." })
  .register(examples, {
    example: {
      ...exampleOf(PortalSessionResource),
      url: "https://signalbox.example/console/portal/#sbx_portal_0Signalbox0Example0Secret00000000",
    },
  });
