import { isAppError } from "@signalbox/core";
import type { ClientAddress } from "@signalbox/http";
import { toAppError } from "@signalbox/storage";
import type { Logger } from "@signalbox/telemetry";
import type Provider from "oidc-provider";
import type { errors, KoaContextWithOIDC } from "oidc-provider";
import { claimedClientId, type NoteRefusedClient } from "./note-refused-client.ts";

const refusals = [
  "authorization.error",
  "grant.error",
  "introspection.error",
  "revocation.error",
  "end_session.error",
  "end_session_confirm.error",
  "end_session_success.error",
] as const;

export interface Watching {
  readonly log: Logger;
  readonly clientAddress: ClientAddress;
  readonly noteRefusedClient: NoteRefusedClient;
}

/**
 * Logs what the provider refuses and what breaks in it, without the parameters, and tells an outage from a bug. Who
 * could not show to be the client they say they are goes to the audit of its owner.
 */
export function watchProvider(provider: Provider, { log, clientAddress, noteRefusedClient }: Watching): void {
  for (const event of refusals) {
    // The events differ in their names alone.
    provider.on(event as "grant.error", (ctx, error) => {
      log.info(refusal(ctx, error), "the issuer refused a request");
      const clientId = error.error === "invalid_client" ? claimedClientId(ctx) : null;
      if (clientId !== null) note(ctx, clientId);
    });
  }
  provider.on("server_error", (ctx, error) => {
    const cause = toAppError(error);
    log.error({ path: ctx.path, error: cause }, "the issuer could not answer");
    if (!isAppError(cause) || cause.code !== "unavailable") return;
    ctx.status = 503;
    ctx.set("Retry-After", String(cause.retryAfterSeconds ?? 1));
  });

  function note(ctx: KoaContextWithOIDC, clientId: string): void {
    const by = { address: clientAddress(ctx.req), requestId: ctx.response.get("X-Request-Id") || null };
    noteRefusedClient({ clientId, by }).catch((error) =>
      log.error({ error }, "a refused client could not be written to the audit"),
    );
  }
}

function refusal({ path }: KoaContextWithOIDC, error: errors.OIDCProviderError) {
  return { path, reason: error.error, detail: error.error_description };
}
