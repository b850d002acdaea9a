import type { Grant, KoaContextWithOIDC } from "oidc-provider";

/**
 * What a person who signs in to one of our own applications agrees to: all that it asks for, without being asked. The
 * grant of an earlier sign-in of the same session is taken again while it outlives the refresh tokens it would give.
 */
export async function loadGrant(ctx: KoaContextWithOIDC, refreshTokenSeconds: number): Promise<Grant | undefined> {
  const { oidc } = ctx;
  const { client, account, session } = oidc;
  if (!client || !account || !session) return undefined;
  const earlierId = session.grantIdFor(client.clientId);
  const earlier = earlierId === undefined ? undefined : await oidc.provider.Grant.find(earlierId);
  const { accountId } = account;
  const usable = earlier?.accountId === accountId && earlier.remainingTTL > refreshTokenSeconds ? earlier : undefined;
  const grant = usable ?? new oidc.provider.Grant({ accountId, clientId: client.clientId });
  grant.addOIDCScope([...oidc.requestParamOIDCScopes].join(" "));
  for (const [resource, { scopes }] of Object.entries(oidc.resourceServers ?? {})) {
    grant.addResourceScope(resource, [...oidc.requestParamScopes].filter((scope) => scopes.has(scope)).join(" "));
  }
  await grant.save();
  return grant;
}
