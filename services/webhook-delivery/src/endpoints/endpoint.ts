import { matchesEventType, type WebhookEndpointResource } from "@signalbox/contracts";

/** Where an account wants its events delivered. The secret is apart: it is sealed in the store. */
export interface Endpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly string[];
  readonly status: WebhookEndpointResource["status"];
  readonly disabledReason: string | null;
  readonly settings: WebhookEndpointResource["settings"];
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an owner may change by a write. The status has verbs of its own. */
export type EndpointChange = {
  readonly [K in "url" | "description" | "eventTypes" | "settings"]?: Endpoint[K] | undefined;
};

/** The endpoint as its owner sees it, on every edge and in every event. */
export function viewEndpoint(endpoint: Endpoint): WebhookEndpointResource {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    event_types: [...endpoint.eventTypes],
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    settings: endpoint.settings,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

/** What `settings` are when the owner says nothing. */
export const defaultSettings: Endpoint["settings"] = {
  retry_schedule_seconds: null,
  timeout_seconds: null,
  max_in_flight: null,
  ordered: false,
  asymmetric_signature: false,
};

/** Whether the endpoint wants an event that goes by any of these names. */
export function wants(endpoint: Pick<Endpoint, "eventTypes">, names: readonly string[]): boolean {
  return endpoint.eventTypes.some((filter) => names.some((name) => matchesEventType(filter, name)));
}

/** The names, as clients know them, of the fields that `change` would really alter. */
export function changedFields(endpoint: Endpoint, change: EndpointChange): string[] {
  const names = { url: "url", description: "description", eventTypes: "event_types", settings: "settings" };
  return Object.entries(names).flatMap(([key, name]) => {
    const next = change[key as keyof EndpointChange];
    const same = JSON.stringify(next) === JSON.stringify(endpoint[key as keyof Endpoint]);
    return next === undefined || same ? [] : [name];
  });
}
