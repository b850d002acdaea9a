import { type Caller, requireScopes } from "@signalbox/auth";
import {
  draft,
  type EventDraft,
  endpointSettingsInEvent,
  examples,
  matchesEventType,
  readable,
  scopesOfEventTypes,
  viewOf,
  WebhookEndpointResource,
  webhookEndpointExample,
  webhookEventTypes,
} from "@signalbox/contracts";
import { newId, type Patch } from "@signalbox/core";
import { type RotatingValue, viewValue } from "@signalbox/storage";
import { z } from "zod";
import { eventNameMax, isCustomFilter } from "../event-types/event-type.ts";
import type { Endpoint as Row } from "../generated/prisma/client.ts";
import { splitId } from "./endpoint-id.ts";
import { defaultSettings, type EndpointSettings, type GivenSettings, SettingsBody } from "./endpoint-settings.ts";

/** An endpoint of an account: the URL that its events are delivered to. Its secret is stored apart, sealed. */
export interface Endpoint
  extends Omit<Row, "type" | "eventTypes" | "scope" | "status" | "settings" | "deletedAt" | "releasedAt"> {
  /** `push` posts to the URL; `pull` keeps messages until a consumer takes them. */
  readonly type: NonNullable<WebhookEndpointResource["type"]>;
  readonly eventTypes: readonly string[];
  /** `account` gets the account's own events; `all`, for operators, those of every account. */
  readonly scope: WebhookEndpointResource["scope"];
  readonly status: WebhookEndpointResource["status"];
  readonly settings: EndpointSettings;
  /** The secrets that sign now, newest first, without their texts. */
  readonly secrets: readonly RotatingValue[];
}

/** Stands for the URL of a pull endpoint. Nobody can have this name, in case a former version posts to it. */
export const noUrl = "https://pull.invalid/";

/** A new endpoint as its owner wants it. Absent settings get the service's defaults. */
export type NewEndpoint = Pick<Endpoint, "type" | "description" | "eventTypes" | "scope"> & {
  readonly url?: string | undefined;
  readonly settings?: GivenSettings | undefined;
  readonly endsAt?: Date;
};

export type EndpointChange = Patch<Omit<NewEndpoint, "type" | "scope" | "endsAt">>;

const url = z.string().min(1).max(2048).describe("URL that deliveries are posted to: https, on a public address.");
const description = z
  .string()
  .max(500)
  .check(readable({ lines: true }))
  .nullable()
  .describe("A text for people.");
const names = new Set(webhookEventTypes.filter(({ audience }) => audience === "account").map(({ name }) => name));
const canMatch = (filter: string): boolean =>
  filter.startsWith("received.") || names.has(filter) || isCustomFilter(filter);

export const eventTypes = z
  .array(z.string().min(1).max(eventNameMax).refine(canMatch, { error: "No event can have this name or prefix." }))
  .min(1)
  .max(100)
  .describe("Names of events, or prefixes that end in `*`.");

export const CreateEndpointBody = z
  .strictObject({
    type: WebhookEndpointResource.shape.type
      .unwrap()
      .default("push")
      .describe("`pull` has no URL: consumers fetch its messages. It cannot be changed."),
    url: url.optional(),
    description: description.default(null),
    event_types: eventTypes,
    scope: WebhookEndpointResource.shape.scope
      .default("account")
      .describe("`all`, for operators: also the service's events about every other account. It cannot be changed."),
    settings: SettingsBody.optional().describe(
      "The settings of the endpoint. Default for those left out: the defaults of the service.",
    ),
  })
  .meta({ id: "CreateWebhookEndpoint" })
  .register(examples, {
    example: {
      url: webhookEndpointExample.url,
      description: webhookEndpointExample.description,
      event_types: webhookEndpointExample.event_types,
    },
  });

export const UpdateEndpointBody = z
  .strictObject({
    url,
    description,
    event_types: eventTypes,
    settings: SettingsBody.describe("The settings to change; those left out are unchanged."),
  })
  .partial()
  .meta({ id: "UpdateWebhookEndpoint" })
  .register(examples, { example: { event_types: ["image.*", "webhook.received"], settings: { timeout_seconds: 10 } } });

/** Names of the changeable fields in the API. */
export const endpointFieldNames = {
  url: "url",
  description: "description",
  eventTypes: "event_types",
  settings: "settings",
} as const;

export function endpointFrom(
  wanted: Omit<NewEndpoint, "settings"> & { readonly url: string; readonly settings: EndpointSettings },
  accountId: string,
  at: Date,
): Endpoint {
  return {
    endsAt: null,
    ...wanted,
    id: newId("whe", at.getTime()),
    consumerOf: null,
    accountId,
    status: "enabled",
    disabledReason: null,
    secrets: [],
    revision: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** Reads the times of values that came as JSON. */
export const withTimes = <Value extends RotatingValue>(values: readonly Value[] | null): Value[] =>
  (values ?? []).map((value) => ({
    ...value,
    createdAt: new Date(value.createdAt),
    endsAt: value.endsAt && new Date(value.endsAt),
  }));

/** Converts a row. Settings that are newer than it get their defaults. */
export const endpointFromRow = (row: Endpoint): Endpoint => ({
  ...row,
  settings: { ...defaultSettings, ...row.settings },
  secrets: withTimes(row.secrets),
});

interface EndpointEvents {
  readonly scope: Endpoint["scope"];
  readonly eventTypes: readonly string[];
}

/** Requires the scopes of the events, which a key for webhooks alone must not redirect. @throws AppError `forbidden` */
export function requireScopeOf({ scope, eventTypes }: EndpointEvents, caller: Caller): void {
  if (scope === "all") requireScopes(caller, ["account:admin"]);
  requireScopes(caller, scopesOfEventTypes(eventTypes), { portal: true });
}

/** Returns true when the endpoint subscribes to one of the event's names. */
export function wants(endpoint: Endpoint, names: readonly string[]): boolean {
  return endpoint.eventTypes.some((filter) => names.some((name) => matchesEventType(filter, name)));
}

export const viewEndpoint = viewOf(WebhookEndpointResource, ({ id, type, url, secrets }: Endpoint) => ({
  id: splitId(id).endpointId,
  url: type === "pull" ? "" : url,
  secrets: secrets.map(viewValue),
}));

function dataInEvent(endpoint: Endpoint) {
  const view = viewEndpoint(endpoint);
  return { ...view, settings: endpointSettingsInEvent(view.settings) };
}

export const endpointCreated = (endpoint: Endpoint) => about("webhook_endpoint.created", endpoint, []);
/** `changed` names the fields. It may name `secret`, but no value is shown. */
export const endpointUpdated = (endpoint: Endpoint, changed: string[]) =>
  about("webhook_endpoint.updated", endpoint, changed);
export const endpointEnabled = (endpoint: Endpoint) =>
  about("webhook_endpoint.enabled", endpoint, ["status", "disabled_reason"]);
export const endpointDeleted = (endpoint: Endpoint) => about("webhook_endpoint.deleted", endpoint, []);

export function endpointFailing(endpoint: Endpoint, since: Date) {
  const data = { ...dataInEvent(endpoint), changed: [], failing_since: since.toISOString() };
  return draft("webhook_endpoint.failing", { subject: endpoint.id, accountId: endpoint.accountId, data });
}

/** `gone`: answered 410. `receiver`: asked for by a header. `failing`: for long. `scope`: of a former administrator. */
export type DisabledReason = "gone" | "receiver" | "failing" | "scope";

/** Creates the event of a disabled endpoint; `scope`, which its schema does not have, is an update. */
export function endpointDisabled(endpoint: Endpoint, reason: DisabledReason): EventDraft {
  if (reason === "scope") return endpointUpdated(endpoint, ["status", "disabled_reason"]);
  const data = { ...dataInEvent(endpoint), changed: ["status", "disabled_reason"], reason };
  return draft("webhook_endpoint.disabled", { subject: endpoint.id, accountId: endpoint.accountId, data });
}

type EndpointEvent = `webhook_endpoint.${"created" | "updated" | "enabled" | "deleted"}`;

function about<N extends EndpointEvent>(name: N, endpoint: Endpoint, changed: string[]) {
  const data = { ...dataInEvent(endpoint), changed } as Parameters<typeof draft<N>>[1]["data"];
  return draft(name, { subject: endpoint.id, accountId: endpoint.accountId, data });
}
