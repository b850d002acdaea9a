import { isAppError } from "@signalbox/core";
import { toAppError } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type Provider from "oidc-provider";
import type { errors, KoaContextWithOIDC } from "oidc-provider";

const refusals = [
  "authorization.error",
  "grant.error",
  "introspection.error",
  "revocation.error",
  "end_session.error",
  "end_session_confirm.error",
  "end_session_success.error",
] as const;

/** Logs what the provider refuses and what breaks in it, without the parameters, and tells an outage from a bug. */
export function watchProvider(provider: Provider, log: Logger): void {
  for (const event of refusals) {
    // The events differ in their names alone.
    provider.on(event as "grant.error", (ctx, error) => log.info(refusal(ctx, error), "the issuer refused a request"));
  }
  provider.on("server_error", (ctx, error) => {
    const cause = toAppError(error);
    log.error({ path: ctx.path, error: cause }, "the issuer could not answer");
    if (!isAppError(cause) || cause.code !== "unavailable") return;
    ctx.status = 503;
    ctx.set("Retry-After", String(cause.retryAfterSeconds ?? 1));
  });
}

function refusal({ path }: KoaContextWithOIDC, error: errors.OIDCProviderError) {
  return { path, reason: error.error, detail: error.error_description };
}
