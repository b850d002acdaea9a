import { inTransaction } from "@signalbox/storage";
import type { KoaContextWithOIDC } from "oidc-provider";
import { recordInAudit } from "../audit/audit-log.ts";
import { revokeSignIn } from "../sign-ins/issued-tokens.ts";
import { findSignInBySession } from "../sign-ins/sign-in-store.ts";
import type { IdentityService, Middleware } from "./identity-service.ts";
import { originOf } from "./sign-in-visit.ts";
import { stateDigest } from "./state/state-store.ts";

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
export function signOutStep(service: IdentityService): Middleware {
  return async (ctx, next) => {
    const path = ctx.path;
    await next();
    if (path.toLowerCase() !== "/end-session/confirm" || ctx.status !== 303) return;
    const { session, params } = ctx.oidc;
    if (!params?.logout || !session?.accountId) return;
    if (params.logout === endEverything) return endWholeSignIn(service, ctx, session.accountId, session.uid);
    const target = ctx.response.get("Location");
    if (target !== ctx.oidc.urlFor("end_session_success")) return;
    if ((await keptApplications(ctx)).length > 0) ctx.set("Location", `${target}?${keptParameter}=1`);
  };
}

async function endWholeSignIn(
  service: IdentityService,
  ctx: KoaContextWithOIDC,
  accountId: string,
  sessionUid: string,
): Promise<void> {
  const credential = ctx.oidc.client?.clientId ?? "sign-out page";
  const from = originOf(service, { request: ctx.req, response: ctx.res });
  const by = { kind: "owner", accountId, credential, ...from } as const;
  await inTransaction(service.pool, async (tx) => {
    const session = stateDigest(sessionUid);
    const subject = await findSignInBySession(tx, accountId, session);
    if (subject === null) return;
    await revokeSignIn(service, tx, { id: subject, accountId, session });
    await recordInAudit(service, tx, by, { action: "sign_in.end", subject });
  });
}
