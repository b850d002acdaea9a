import { internalProperties, principalProperties } from "@signalbox/auth/properties";
import { cacheProperties } from "@signalbox/cache/properties";
import { defineProperties } from "@signalbox/config";
import { defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { databaseProperties, secretsProperties } from "@signalbox/storage/properties";

/** Every property of the webhook-ingest service. */
export const properties = defineProperties({
  ...runtimeProperties,
  ...databaseProperties,
  ...secretsProperties,
  ...cacheProperties,
  ...eventsProperties,
  ...internalProperties,
  ...principalProperties,
  ...httpProperties,
  "limits.maxPageSize": limitProperties["limits.maxPageSize"],
  "defaults.pageSize": defaultProperties["defaults.pageSize"],
  "limits.maxWebhookBytes": limitProperties["limits.maxWebhookBytes"],
  "webhook-ingest.tolerance": {
    type: "integer",
    default: 300_000,
    unit: "ms",
    min: 1_000,
    max: 86_400_000,
    secrecy: "internal",
    reload: "live",
    effect: "How far the time a partner signs may differ from ours, both ways; outside it the answer is 401.",
  },
  "webhook-ingest.received.retention": {
    type: "integer",
    default: 2_592_000_000,
    unit: "ms",
    min: 86_400_000,
    max: 31_536_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "How long a received delivery is kept; a repetition that arrives later counts as new.",
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
