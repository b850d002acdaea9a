import type { ClientAddress } from "@signalbox/http";
import { inTransaction, type Pool } from "@signalbox/storage";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { Audit } from "../audit/audit-log.ts";
import type { IssuedTokens } from "../sign-ins/issued-tokens.ts";
import type { SignInStore } from "../sign-ins/sign-in-store.ts";
import { stateDigest } from "./state/state-store.ts";

interface Dependencies {
  readonly pool: Pool;
  readonly audit: Pick<Audit, "record">;
  readonly signInStore: Pick<SignInStore, "findBySession">;
  readonly issuedTokens: Pick<IssuedTokens, "revokeSignIn">;
  readonly clientAddress: ClientAddress;
}

/** The value of `logout` that ends the access of the applications too. */
export const endEverything = "all";

/** The parameter of the last page: applications kept their access. */
export const keptParameter = "kept";

/**
 * Names the applications that keep access after a sign-out: they asked for `offline_access`, and their refresh tokens
 * outlive the browser's session.
 */
export async function keptApplications({ oidc: { session, provider } }: KoaContextWithOIDC): Promise<string[]> {
  const names: string[] = [];
  for (const [clientId, { grantId, persistsLogout }] of Object.entries(session?.authorizations ?? {})) {
    if (!persistsLogout || !grantId || !(await provider.Grant.find(grantId))) continue;
    names.push((await provider.Client.find(clientId))?.clientName ?? clientId);
  }
  return names;
}

/**
 * Creates the step around a confirmed sign-out. It ends the whole sign-in where the person asked for that, and
 * otherwise lets the last page say what remains.
 */
export function createSignOut({ pool, audit, signInStore, issuedTokens, clientAddress }: Dependencies) {
  return async function signOut(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
    const path = ctx.path;
    await next();
    if (path.toLowerCase() !== "/end-session/confirm" || ctx.status !== 303) return;
    const { session, params } = ctx.oidc;
    if (!params?.logout || !session?.accountId) return;
    if (params.logout === endEverything) return endSignIn(ctx, session.accountId, session.uid);
    const target = ctx.response.get("Location");
    if (target !== ctx.oidc.urlFor("end_session_success")) return;
    if ((await keptApplications(ctx)).length > 0) ctx.set("Location", `${target}?${keptParameter}=1`);
  };

  async function endSignIn(ctx: KoaContextWithOIDC, accountId: string, sessionUid: string): Promise<void> {
    const requestId = ctx.response.get("X-Request-Id") || null;
    const credential = ctx.oidc.client?.clientId ?? "sign-out page";
    const by = { kind: "owner", accountId, credential, address: clientAddress(ctx.req), requestId } as const;
    await inTransaction(pool, async (tx) => {
      const session = stateDigest(sessionUid);
      const signIn = await signInStore.findBySession(tx, accountId, session);
      if (!signIn) return;
      await issuedTokens.revokeSignIn(tx, { id: signIn.id, session });
      await audit.record(tx, by, { action: "sign_in.end", subject: signIn.id });
    });
  }
}
