import { type Client, type ClientRequest, createClient } from "../../journey/client.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";

/** A request that every service answers to a caller with all rights only. */
export interface ProtectedRequest {
  readonly name: string;
  readonly send: Client;
  readonly path: string;
  readonly request: ClientRequest;
}

/** One read in every service, one write, and the management of the processes. */
export function protectedRequests({
  system,
  send,
}: Pick<TrustingScene, "system" | "send">): readonly ProtectedRequest[] {
  const manage = createClient(system.managementUrls.get("account") ?? system.managementUrl);
  const target = (name: string, path: string, request: ClientRequest = {}) => ({ name, send, path, request });
  return [
    target("account", "/api/account/"),
    target("account, writing", "/api/account/", { method: "PATCH", body: {} }),
    target("images", "/images"),
    target("config", "/api/v1/config/"),
    target("config, environment", "/api/v1/env"),
    target("webhook-ingest", "/api/v1/webhooks/sources"),
    target("webhook-delivery", "/api/v1/webhooks/endpoints"),
    target("gateway", "/graphql", { body: { query: "{ viewer { id } }" } }),
    { ...target("management", "/management/env"), send: manage },
  ];
}
