import { isDeepStrictEqual } from "node:util";
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

/** What an owner may change by a write. The status has verbs of its own. Settings are merged into those that are there. */
export type EndpointChange = {
  readonly [K in "url" | "description" | "eventTypes"]?: Endpoint[K] | undefined;
} & { readonly settings?: Partial<Endpoint["settings"]> | undefined };

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

/** The endpoint with the change laid over it; absent members stay. */
export function withChange(endpoint: Endpoint, { settings = {}, ...change }: EndpointChange): Endpoint {
  const defined = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  return { ...endpoint, ...defined, settings: { ...endpoint.settings, ...settings } };
}

/** The names, as clients know them, of the fields in which the two differ. */
export function changedFields(before: Endpoint, after: Endpoint): string[] {
  const names = { url: "url", description: "description", eventTypes: "event_types", settings: "settings" };
  return Object.entries(names).flatMap(([key, name]) =>
    isDeepStrictEqual(before[key as keyof Endpoint], after[key as keyof Endpoint]) ? [] : [name],
  );
}
