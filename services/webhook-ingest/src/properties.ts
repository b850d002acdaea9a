import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { featureProperties, limitProperties } from "@signalbox/contracts/properties";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

/** Every property of the webhook-ingest service. */
export const properties = defineProperties({
  ...commonProperties,
  ...principalProperties,
  ...secretsProperties,
  "features.integrations": featureProperties["features.integrations"],
  "limits.maxWebhookBytes": limitProperties["limits.maxWebhookBytes"],
  "webhook-ingest.tolerance": {
    type: "integer",
    default: 300_000,
    unit: "ms",
    min: 1_000,
    // A recorded delivery can be replayed for as long.
    max: 600_000,
    guarded: true,
    secrecy: "internal",
    reload: "live",
    effect: "How far the time a partner signs may differ from ours, both ways; outside it the answer is 401.",
  },
  "webhook-ingest.refusals.unknown-sources": {
    type: "integer",
    default: 30,
    unit: "requests",
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Requests a minute from one address to sources that do not exist, before it is answered 429 unread.",
  },
  "webhook-ingest.refusals.failed-verifications": {
    type: "integer",
    default: 60,
    unit: "requests",
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Webhooks a minute from one address to one source that fail verification, before it is answered 429 unread.",
  },
  "webhook-ingest.outbound.allow": outboundAllowProperty(
    "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, at which key sets of partners may be although they are not public; http is then allowed there too.",
  ),
  "webhook-ingest.received.retention": retentionProperty(
    "How long a received delivery is kept; a repetition that arrives later counts as new.",
  ),
  "webhook-ingest.sources.max": {
    type: "integer",
    default: 100,
    unit: "sources",
    min: 1,
    max: 10_000,
    secrecy: "internal",
    reload: "live",
    effect: "Sources that one account may have.",
  },
  "webhook-ingest.rejections.max": {
    type: "integer",
    default: 1_000,
    unit: "rejections",
    min: 10,
    max: 100_000,
    secrecy: "internal",
    reload: "live",
    effect: "The newest rejections that are kept for each source.",
  },
});

export type Properties = typeof properties;
