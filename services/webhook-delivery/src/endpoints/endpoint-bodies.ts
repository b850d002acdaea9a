import {
  examples,
  overlapSeconds,
  WebhookEndpointResource,
  webhookEndpointExample,
  webhookEndpointScopes,
  webhookEventTypes,
} from "@signalbox/contracts";
import { z } from "zod";
import { isCustomName } from "../events/custom-event.ts";
import { SettingsBody } from "./settings-body.ts";

const url = z.string().min(1).max(2048).describe("URL that deliveries are posted to: https, on a public address.");
const description = z.string().max(500).nullable();
const names = new Set(webhookEventTypes.filter(({ audience }) => audience === "account").map(({ name }) => name));
const isKnown = (filter: string): boolean => {
  if (filter.startsWith("received.")) return true;
  if (isCustomName(filter) && customFilter.test(filter)) return true;
  if (!filter.endsWith("*")) return names.has(filter);
  const prefix = filter.slice(0, -1);
  return [...names].some((name) => name.startsWith(prefix)) || "received.".startsWith(prefix);
};
/** Names of custom events of the account, or a prefix of them. */
const customFilter = /^[a-z][a-z0-9_]*((\.[a-z0-9_]+){1,4}|(\.[a-z0-9_]+){0,3}\.\*)$/;
const eventTypes = z
  .array(z.string().min(1).max(200).refine(isKnown, { error: "No event has this name or prefix." }))
  .min(1)
  .max(100)
  .describe("Names of events, or prefixes that end in `*`.");
export const CreateEndpointBody = z
  .strictObject({
    url,
    description: description.default(null),
    event_types: eventTypes,
    scope: z
      .enum(webhookEndpointScopes)
      .default("account")
      .describe(
        "`all`, for operators only: also the service's events about every other account. It cannot be changed.",
      ),
    settings: SettingsBody.optional(),
  })
  .meta({ id: "CreateWebhookEndpoint" })
  .register(examples, {
    example: {
      url: webhookEndpointExample.url,
      description: webhookEndpointExample.description,
      event_types: webhookEndpointExample.event_types,
    },
  });

/** A merge patch: an absent member keeps its value, in `settings` too. */
export const UpdateEndpointBody = z
  .strictObject({ url, description, event_types: eventTypes, settings: SettingsBody })
  .partial()
  .meta({ id: "UpdateWebhookEndpoint" })
  .register(examples, { example: { event_types: ["image.*", "webhook.received"], settings: { timeout_seconds: 10 } } });

const secretExample = "whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCBvZiAzMiBi";

export const OverlapBody = z
  .strictObject({
    overlap_seconds: overlapSeconds(
      "the previous one still signs as well. Default: a setting of the service",
    ).optional(),
  })
  .meta({ id: "RotateWebhookEndpointSecret" })
  .register(examples, { example: { overlap_seconds: 3_600 } });

/** An endpoint with its secret, on creation, rotation and reveal. */
export const EndpointWithSecret = WebhookEndpointResource.extend({
  secret: z.string().describe("Secret that verifies deliveries. Shown on creation, rotation and reveal only."),
})
  .meta({ id: "WebhookEndpointWithSecret" })
  .register(examples, { example: { ...webhookEndpointExample, secret: secretExample } });

export const EndpointSecret = z
  .object({ secret: z.string().meta({ examples: [secretExample] }) })
  .meta({ id: "WebhookEndpointSecret" });
