import { draft } from "@signalbox/contracts";
import { type Endpoint, viewEndpoint } from "./endpoint.ts";

type EndpointEvent =
  | "webhook_endpoint.created"
  | "webhook_endpoint.updated"
  | "webhook_endpoint.deleted"
  | "webhook_endpoint.enabled";

export const endpointCreated = (endpoint: Endpoint) => about("webhook_endpoint.created", endpoint, []);
/** `changed` names the fields, `secret` among them but never its value. */
export const endpointUpdated = (endpoint: Endpoint, changed: string[]) =>
  about("webhook_endpoint.updated", endpoint, changed);
export const endpointDeleted = (endpoint: Endpoint) => about("webhook_endpoint.deleted", endpoint, []);
export const endpointEnabled = (endpoint: Endpoint) =>
  about("webhook_endpoint.enabled", endpoint, ["status", "disabled_reason"]);

export function endpointDisabled(endpoint: Endpoint, reason: "gone" | "failing" | "owner") {
  const data = { ...viewEndpoint(endpoint), changed: ["status", "disabled_reason"], reason };
  return draft("webhook_endpoint.disabled", { subject: endpoint.id, accountId: endpoint.accountId, data });
}

function about<N extends EndpointEvent>(name: N, endpoint: Endpoint, changed: string[]) {
  const data = { ...viewEndpoint(endpoint), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: endpoint.id, accountId: endpoint.accountId, data });
}
