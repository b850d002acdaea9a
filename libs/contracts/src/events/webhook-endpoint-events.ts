import { z } from "zod";
import { changed } from "../resources/fields.ts";
import { WebhookEndpointResource, webhookEndpointExample } from "../resources/webhook-endpoint.ts";
import { defineEvent } from "../topics/define-event.ts";

type Settings = WebhookEndpointResource["settings"];

/** The formats that the first version of these events knows. */
const eventFormats = ["envelope", "original"] as const;

/**
 * Returns the settings as events show them. Readers of the first version refuse a `format` that they do not know. An
 * endpoint of a subscriber may get the event, so it lacks the headers and metadata of the account that has the portal.
 */
export const endpointSettingsInEvent = (settings: Settings) => ({
  ...settings,
  headers: [],
  metadata: {},
  format: eventFormats.find((format) => format === settings.format) ?? ("envelope" as const),
  body_format: settings.format,
});

const endpointExample = {
  ...webhookEndpointExample,
  settings: endpointSettingsInEvent(webhookEndpointExample.settings),
};

const data = WebhookEndpointResource.extend({
  settings: WebhookEndpointResource.shape.settings
    .extend({
      format: z.enum(eventFormats).describe("`original`, or `envelope` for every other format."),
      body_format: z.string().optional().describe("The format of the body, including formats added later."),
    })
    .describe("The settings of the endpoint, without its headers and metadata."),
  scope: WebhookEndpointResource.shape.scope.optional(), // events from before it lack it
  changed,
});
const shared = {
  version: 1,
  topic: "signalbox.webhook-delivery.v1",
  subject: "endpoint id",
  audience: "account",
} as const;

export const webhookEndpointCreatedEvent = defineEvent({
  ...shared,
  name: "webhook_endpoint.created",
  description: "An endpoint was created; it receives events committed from now on.",
  data,
  example: { ...endpointExample, changed: [] },
});

export const webhookEndpointUpdatedEvent = defineEvent({
  ...shared,
  name: "webhook_endpoint.updated",
  description: "An endpoint was changed, paused, resumed, or got a new secret (`changed` then names `secret`).",
  data,
  example: { ...endpointExample, status: "paused", changed: ["status"] },
});

export const webhookEndpointDeletedEvent = defineEvent({
  ...shared,
  name: "webhook_endpoint.deleted",
  description: "An endpoint was deleted; the event has its last record.",
  data,
  example: { ...endpointExample, changed: [] },
});

export const webhookEndpointFailingEvent = defineEvent({
  ...shared,
  name: "webhook_endpoint.failing",
  description:
    "An endpoint has been failing for a long time and will be disabled unless it recovers. Never sent to the endpoint itself.",
  data: data.extend({
    failing_since: z.iso.datetime({ precision: 3 }).describe("The time of the first failure in a row."),
  }),
  example: { ...endpointExample, changed: [], failing_since: "2026-01-02T10:30:00.000Z" },
});

export const webhookEndpointDisabledEvent = defineEvent({
  ...shared,
  name: "webhook_endpoint.disabled",
  description:
    "An endpoint answered 410, asked for it with a header, or failed for too long. Its deliveries are held, not dropped.",
  data: data.extend({ reason: z.enum(["gone", "receiver", "failing"]).describe("The reason why it was disabled.") }),
  example: {
    ...endpointExample,
    status: "disabled",
    disabled_reason: "gone",
    changed: ["status", "disabled_reason"],
    reason: "gone",
  },
});

export const webhookEndpointEnabledEvent = defineEvent({
  ...shared,
  name: "webhook_endpoint.enabled",
  description: "A disabled endpoint was enabled again; held deliveries go out.",
  data,
  example: { ...endpointExample, changed: ["status"] },
});
