import type { KoaContextWithOIDC } from "oidc-provider";
import { type IssuerAddress, mountPath } from "./issuer-address.ts";
import { goOnSignedOut } from "./provider-pages.ts";

type Step = (ctx: KoaContextWithOIDC, next: () => Promise<void>) => Promise<void>;

/** What happens to a request before the provider sees it, in order. */
export function providerSteps(address: IssuerAddress): readonly Step[] {
  return [underPath(address), nothingHere, cachedForMinutes, consentGiven, withoutScript];
}

/** The provider routes by the path below the mount, and writes URLs with the one that is seen outside. */
function underPath({ path }: IssuerAddress): Step {
  return async (ctx, next) => {
    const { path: whole } = ctx;
    ctx.mountPath = path;
    ctx.path = whole.slice(mountPath.length) || "/";
    try {
      await next();
    } finally {
      // The request's log line names the path that was asked for.
      ctx.path = whole;
    }
  };
}

const nothingHere: Step = async (ctx, next) => {
  await next();
  if (ctx.status !== 404 || ctx.body) return;
  const error = { code: "not_found", message: "There is nothing here.", request_id: ctx.response.get("X-Request-Id") };
  ctx.body = { error };
  ctx.status = 404;
};

/** Much shorter than a key is published before it signs. */
const cached = "public, max-age=300";
const publicDocuments = new Set([
  "/jwks",
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
]);

const cachedForMinutes: Step = async (ctx, next) => {
  const isPublic = publicDocuments.has(ctx.path);
  await next();
  if (isPublic && ctx.status === 200) ctx.set("Cache-Control", cached);
};

/**
 * Refresh tokens are for those who asked to consent (OpenID Connect Core §11). Our applications are never asked, so
 * whoever wants them is taken as having asked.
 */
const consentGiven: Step = async (ctx, next) => {
  const { scope = "", prompt = "" } = ctx.query;
  if (ctx.path === "/authorize" && typeof scope === "string" && typeof prompt === "string") {
    const prompts = prompt.split(" ").filter(Boolean);
    const wanted = scope.split(" ").includes("offline_access") && !prompts.includes("none");
    if (wanted) ctx.query = { ...ctx.query, prompt: [...new Set([...prompts, "consent"])].join(" ") };
  }
  await next();
};

/** The provider's page for who signs out and is not signed in sends itself by script, which our pages never run. */
const withoutScript: Step = async (ctx, next) => {
  await next();
  if (ctx.path === "/end-session" && ctx.status === 200 && !ctx.oidc.session?.accountId) goOnSignedOut(ctx);
};
