import { type Caller, requireScopes } from "@signalbox/auth";
import { draft, type EventDraft, matchesEventType, type WebhookEndpointResource } from "@signalbox/contracts";
import { newId, type Patch } from "@signalbox/core";
import { defaultSettings, type EndpointSettings, type GivenSettings } from "./endpoint-settings.ts";

/** Where an account wants its events delivered. The secret is apart: it is sealed in the store. */
export interface Endpoint {
  readonly id: string;
  readonly accountId: string;
  readonly url: string;
  readonly description: string | null;
  readonly eventTypes: readonly string[];
  /** Whose events it gets: those of its account, or, for operators, of all accounts. */
  readonly scope: WebhookEndpointResource["scope"];
  readonly status: WebhookEndpointResource["status"];
  readonly disabledReason: string | null;
  readonly settings: EndpointSettings;
  readonly revision: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** What an owner gives to create an endpoint. Settings that are left out are those of the service. */
export type NewEndpoint = Pick<Endpoint, "url" | "description" | "eventTypes" | "scope"> & {
  readonly settings?: GivenSettings | undefined;
};

/** What an owner may change. Settings are merged into those that are there. */
export type EndpointChange = Patch<Pick<Endpoint, "url" | "description" | "eventTypes">> &
  Pick<NewEndpoint, "settings">;

/** The fields that a change may have, as clients know them. */
export const endpointFieldNames = {
  url: "url",
  description: "description",
  eventTypes: "event_types",
  settings: "settings",
} as const;

/** The endpoint as it begins. */
export function endpointFrom(
  wanted: Omit<NewEndpoint, "settings"> & Pick<Endpoint, "settings">,
  accountId: string,
  at: Date,
): Endpoint {
  return {
    ...wanted,
    id: newId("whe", at.getTime()),
    accountId,
    status: "enabled",
    disabledReason: null,
    revision: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** The stored row with the settings that were introduced after it. */
export const withEverySetting = <Row extends Endpoint>(row: Row): Row => ({
  ...row,
  settings: { ...defaultSettings, ...row.settings },
});

/**
 * Holds what is about an endpoint for all accounts to those who administer all: a key of their account that may only write
 * webhooks must not lead the events of others elsewhere. @throws AppError `forbidden`
 */
export function requireScopeOf({ scope }: Pick<Endpoint, "scope">, caller: Caller): void {
  if (scope === "all") requireScopes(caller, ["account:admin"]);
}

/** Tells whether the endpoint wants an event that goes by any of these names. */
export function wants(endpoint: Pick<Endpoint, "eventTypes">, names: readonly string[]): boolean {
  return endpoint.eventTypes.some((filter) => names.some((name) => matchesEventType(filter, name)));
}

/** The endpoint as its owner sees it, on every edge and in every event. */
export function viewEndpoint(endpoint: Endpoint): WebhookEndpointResource {
  return {
    id: endpoint.id,
    url: endpoint.url,
    description: endpoint.description,
    event_types: [...endpoint.eventTypes],
    scope: endpoint.scope,
    status: endpoint.status,
    disabled_reason: endpoint.disabledReason,
    settings: endpoint.settings,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

export const endpointCreated = (endpoint: Endpoint) => about("webhook_endpoint.created", endpoint, []);
/** `changed` names the fields, `secret` among them but never its value. */
export const endpointUpdated = (endpoint: Endpoint, changed: string[]) =>
  about("webhook_endpoint.updated", endpoint, changed);
export const endpointEnabled = (endpoint: Endpoint) =>
  about("webhook_endpoint.enabled", endpoint, ["status", "disabled_reason"]);
export const endpointDeleted = (endpoint: Endpoint) => about("webhook_endpoint.deleted", endpoint, []);

export function endpointFailing(endpoint: Endpoint, since: Date) {
  const data = { ...viewEndpoint(endpoint), changed: [], failing_since: since.toISOString() };
  return draft("webhook_endpoint.failing", { subject: endpoint.id, accountId: endpoint.accountId, data });
}

/**
 * Why an endpoint is disabled: its receiver answered 410, said so with a header, or failed for long; or it is for all accounts
 * and its own is no administrator any more.
 */
export type DisabledReason = "gone" | "receiver" | "failing" | "scope";

/** Readers of `webhook_endpoint.disabled` know three reasons; the others are told as a change. */
export function endpointDisabled(endpoint: Endpoint, reason: DisabledReason): EventDraft {
  if (reason === "scope") return endpointUpdated(endpoint, ["status", "disabled_reason"]);
  const data = { ...viewEndpoint(endpoint), changed: ["status", "disabled_reason"], reason };
  return draft("webhook_endpoint.disabled", { subject: endpoint.id, accountId: endpoint.accountId, data });
}

type EndpointEvent =
  | "webhook_endpoint.created"
  | "webhook_endpoint.updated"
  | "webhook_endpoint.enabled"
  | "webhook_endpoint.deleted";

function about<N extends EndpointEvent>(name: N, endpoint: Endpoint, changed: string[]) {
  const data = { ...viewEndpoint(endpoint), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: endpoint.id, accountId: endpoint.accountId, data });
}
