import { isDeepStrictEqual } from "node:util";
import type { Caller } from "@signalbox/auth";
import { examples, timestamp, WebhookEndpointResource, webhookEndpointExample } from "@signalbox/contracts";
import { createPerRequest, type SubgraphContext } from "@signalbox/http";
import { ownRows } from "@signalbox/service";
import type { Queryable, Tx } from "@signalbox/storage";
import { z } from "zod";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type KnownTypes, matchesOf } from "../events/type-names.ts";
import { type Endpoint, viewEndpoint } from "./endpoint.ts";
import { type EndpointBacklog, endpointBacklogs } from "./endpoint-backlog.ts";
import {
  defaultScheduleMs,
  defaultSettings,
  type EndpointSettings,
  heldMaxDefault,
  holdMsDefault,
} from "./endpoint-settings.ts";

import { endpointFor } from "./portal-view.ts";

export interface DescribedEndpoint extends Endpoint {
  readonly knownTypes: KnownTypes;
  readonly backlog: EndpointBacklog | null;
}

type Described<Outcome> = Outcome extends { readonly endpoint: Endpoint }
  ? Omit<Outcome, "endpoint"> & { readonly endpoint: DescribedEndpoint }
  : Outcome;

/** The place that the value of a setting comes from. */
const origins = ["endpoint", "property", "default"] as const;
type Origin = (typeof origins)[number];

/** The values of all settings as attempts use them, each with its origin. */
type EffectiveSettings = {
  readonly [Name in keyof EndpointSettings]: { readonly value: EndpointSettings[Name]; readonly from: Origin };
};

const from = z
  .enum(origins)
  .describe("`endpoint`: set on the endpoint; `property`: a property of the service; `default`: neither is set.");
const ownShape = WebhookEndpointResource.shape.settings.shape;
const EffectiveSettingsResource = z.object(
  Object.fromEntries(
    Object.entries(ownShape).map(([name, value]) => [
      name,
      z.object({ value, from }).describe(`The effective \`${name}\`.`),
    ]),
  ) as {
    [Name in keyof typeof ownShape]: z.ZodObject<{ value: (typeof ownShape)[Name]; from: typeof from }>;
  },
);

export const EndpointInFullResource = WebhookEndpointResource.extend({
  effective_settings: EffectiveSettingsResource.describe("The effective settings, each with its source."),
  matches: z
    .array(
      z.object({
        event_type: z.string().describe("A name of `event_types`."),
        count: z.int().describe("The number of known types that it matches."),
        types: z.array(z.string()).describe("The first ten of them, by name."),
      }),
    )
    .describe("The types that each name matches: types of the service, declared by the account, or seen before."),
  warnings: z.array(z.string()).describe("A sentence for each name that matches no known type."),
  waiting: z.int().describe("Deliveries waiting for their turn or their next attempt, counted up to 100,000."),
  held: z.int().describe("Deliveries that are held, or were held and are draining, counted up to 100,000."),
  drains_at_per_second: z
    .number()
    .nullable()
    .describe("Rate at which held deliveries currently drain; null while none do. Adapts unless `rate` is set."),
  drained_at: timestamp
    .nullable()
    .describe("When the last held delivery goes out at this rate; null while none drain."),
  doc_url: z.string().describe("The page that explains how a receiver verifies deliveries."),
}).meta({
  id: "WebhookEndpointInFull",
  description: "An endpoint with its effective settings and the types that its names match.",
});
export type EndpointInFullResource = z.output<typeof EndpointInFullResource>;

const settingOf = (value: unknown) => ({ value, from: "default" as const });
export const endpointInFullExample: EndpointInFullResource = {
  ...webhookEndpointExample,
  effective_settings: {
    ...(Object.fromEntries(
      Object.entries(webhookEndpointExample.settings).map(([name, value]) => [name, settingOf(value)]),
    ) as EffectiveSettings),
    timeout_seconds: { value: 15, from: "property" },
  },
  matches: [{ event_type: "image.*", count: 1, types: ["image.created"] }],
  warnings: [],
  waiting: 3,
  held: 1_200,
  drains_at_per_second: 40,
  drained_at: "2026-01-01T09:00:30.000Z",
  doc_url: "https://api.example.com/docs/how-to/verify-deliveries",
};
examples.add(EndpointInFullResource, { example: endpointInFullExample });

export async function describeEndpoint(service: DeliveryService, endpoint: Endpoint, db?: Queryable) {
  const [backlog = null] = await endpointBacklogs(service, [endpoint.id], db);
  return { ...endpoint, knownTypes: await service.typeNames.of(endpoint.accountId, db), backlog };
}

export async function describeEndpoints(service: DeliveryService, endpoints: readonly Endpoint[]) {
  const [first] = endpoints;
  if (first === undefined) return [];
  const knownTypes = await service.typeNames.of(first.accountId);
  const ids = endpoints.map(({ id }) => id);
  const found = await endpointBacklogs(service, ids);
  const backlogs = new Map(found.map((backlog) => [backlog.id, backlog]));
  return endpoints.map((endpoint) => ({ ...endpoint, knownTypes, backlog: backlogs.get(endpoint.id) ?? null }));
}

export const describeOutcome = async <Outcome extends object>(
  service: DeliveryService,
  tx: Tx,
  caller: Caller,
  outcome: Outcome,
) =>
  ("endpoint" in outcome
    ? { ...outcome, endpoint: await describeEndpoint(service, endpointFor(caller, outcome.endpoint as Endpoint), tx) }
    : outcome) as Described<Outcome>;

export const endpointInFull = (service: DeliveryService, endpoint: DescribedEndpoint): EndpointInFullResource => ({
  ...viewEndpoint(endpoint),
  effective_settings: effectiveSettings(service, endpoint),
  matches: matchesOfAll(endpoint, endpoint.knownTypes).map(({ eventType, ...found }) => ({
    event_type: eventType,
    ...found,
  })),
  warnings: warningsOf(endpoint, endpoint.knownTypes),
  waiting: endpoint.backlog?.waiting ?? 0,
  held: endpoint.backlog?.held ?? 0,
  drains_at_per_second: endpoint.backlog?.drainsPerSecond ?? null,
  drained_at: endpoint.backlog?.drainedAt?.toISOString() ?? null,
  doc_url: docUrl(service),
});

export function endpointFields(service: DeliveryService) {
  const ofRequest = createPerRequest<Promise<KnownTypes>>();
  // Read once for all endpoints of a request, and only where a field asks for it.
  const knownTypesOf = (endpoint: Endpoint | DescribedEndpoint, context: SubgraphContext): Promise<KnownTypes> =>
    "knownTypes" in endpoint
      ? Promise.resolve(endpoint.knownTypes)
      : ofRequest(context, endpoint.accountId, () => service.typeNames.of(endpoint.accountId));
  const loadBacklog = ownRows((_, ids) => endpointBacklogs(service, ids));
  const backlogField =
    <Value>(of: (backlog: EndpointBacklog | null) => Value) =>
    async ({ id }: Endpoint, _: object, context: SubgraphContext) =>
      of(await loadBacklog(context, id));
  return {
    waiting: backlogField((backlog) => backlog?.waiting ?? 0),
    held: backlogField((backlog) => backlog?.held ?? 0),
    drainsAtPerSecond: backlogField((backlog) => backlog?.drainsPerSecond ?? null),
    drainedAt: backlogField((backlog) => backlog?.drainedAt ?? null),
    effectiveSettings: (endpoint: Endpoint) => effectiveSettings(service, endpoint),
    matches: async (endpoint: Endpoint, _: object, context: SubgraphContext) =>
      matchesOfAll(endpoint, await knownTypesOf(endpoint, context)),
    warnings: async (endpoint: Endpoint, _: object, context: SubgraphContext) =>
      warningsOf(endpoint, await knownTypesOf(endpoint, context)),
    docUrl: () => docUrl(service),
  };
}

const docUrl = ({ configuration }: DeliveryService): string =>
  `${configuration.get("http.base-url")}/docs/how-to/verify-deliveries`;

/** Returns the settings that hold: its own, those of the service's properties, or the defaults. */
function effectiveSettings(
  { configuration, sender }: DeliveryService,
  { type, settings }: Endpoint,
): EffectiveSettings {
  const own = Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const isDefault = isDeepStrictEqual(value, defaultSettings[name as keyof EndpointSettings]);
      return [name, { value, from: isDefault ? "default" : "endpoint" }];
    }),
  ) as EffectiveSettings;
  const orElse = <Name extends keyof EndpointSettings>(name: Name, value: EndpointSettings[Name], from: Origin) =>
    settings[name] === null ? { value, from } : own[name];
  const schedule = defaultScheduleMs.map((ms) => ms / 1000);
  const shared = {
    ...own,
    retry_schedule_seconds: orElse("retry_schedule_seconds", schedule, "default"),
    order_hold_seconds: orElse("order_hold_seconds", holdMsDefault / 1000, "default"),
  };
  // A pull endpoint makes no connection; its consumers hold messages.
  if (type === "pull") return { ...shared, max_in_flight: orElse("max_in_flight", heldMaxDefault, "default") };
  const inFlightMax = configuration.get("webhook-delivery.attempts.in-flight-max-per-endpoint");
  const isCut = (settings.max_in_flight ?? 0) > inFlightMax;
  return {
    ...shared,
    timeout_seconds: orElse("timeout_seconds", sender.timeoutMs() / 1000, "property"),
    max_in_flight: isCut ? { value: inFlightMax, from: "property" } : orElse("max_in_flight", inFlightMax, "property"),
  };
}

const matchesOfAll = ({ eventTypes }: Endpoint, known: KnownTypes) =>
  eventTypes.map((eventType) => ({ eventType, ...matchesOf(eventType, known) }));

function warningsOf(endpoint: Endpoint, known: KnownTypes): string[] {
  const missing = known.isComplete ? matchesOfAll(endpoint, known).filter(({ count }) => count === 0) : [];
  return missing.map(({ eventType }) => `Nothing named ${eventType} has been sent or declared`);
}
