import { type Client, type ClientRequest, createClient } from "../../journey/client.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";

/** A request that every service answers to a caller with all rights only. */
export interface Door {
  readonly name: string;
  readonly send: Client;
  readonly path: string;
  readonly request: ClientRequest;
}

/** One read in every service, one write, and the management of the processes. */
export function doorsOf({ system, send }: Pick<TrustingScene, "system" | "send">): readonly Door[] {
  const manage = createClient(system.managementUrls.get("account") ?? system.managementUrl);
  const door = (name: string, path: string, request: ClientRequest = {}) => ({ name, send, path, request });
  return [
    door("account", "/api/account/"),
    door("account, writing", "/api/account/", { method: "PATCH", body: {} }),
    door("images", "/images"),
    door("config", "/api/v1/config/"),
    door("config, environment", "/api/v1/env"),
    door("webhook-ingest", "/api/v1/webhooks/sources"),
    door("webhook-delivery", "/api/v1/webhooks/endpoints"),
    door("gateway", "/graphql", { body: { query: "{ viewer { id } }" } }),
    { ...door("management", "/management/env"), send: manage },
  ];
}
