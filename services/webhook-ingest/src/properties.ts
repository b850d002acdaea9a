import { principalProperties } from "@signalbox/auth/properties";
import { featureProperties, limitProperties } from "@signalbox/contracts/properties";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { defineProperties } from "@signalbox/runtime";
import { commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

/** Properties of the webhook-ingest service. */
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
    // A recorded delivery can be replayed for this long.
    max: 600_000,
    guarded: true,
    secrecy: "internal",
    reload: "live",
    effect: "Largest difference, both ways, between the time a partner signs and ours; beyond it the answer is 401.",
  },
  "webhook-ingest.refusals.unknown-sources": {
    type: "integer",
    default: 30,
    unit: "requests",
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Refusals per minute of one address by unknown, paused and blocked sources; beyond it these answer 429 and do not read the body.",
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
      "Failed verifications per minute of one address at one source; beyond it this source answers 429 and does not read the body.",
  },
  "webhook-ingest.outbound.allow": outboundAllowProperty(
    "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, that partners' key sets may be read from although they are not public. Plain http is allowed there too.",
  ),
  "webhook-ingest.received.retention": retentionProperty(
    "Time for which a received delivery is kept; a later repetition counts as new.",
  ),
  "webhook-ingest.sources.max": {
    type: "integer",
    default: 100,
    unit: "sources",
    min: 1,
    max: 10_000,
    secrecy: "internal",
    reload: "live",
    effect: "Largest number of sources of one account.",
  },
  "webhook-ingest.bookmarks.max": {
    type: "integer",
    default: 100,
    unit: "bookmarks",
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "live",
    effect: "Largest number of bookmarks of one account; their bodies have 16 MiB in all.",
  },
  "webhook-ingest.reconciliation.interval": {
    type: "integer",
    default: 900_000,
    unit: "ms",
    min: 60_000,
    max: 86_400_000,
    secrecy: "internal",
    reload: "live",
    effect:
      "Time between two comparisons of a source with its sender's list, for sources with a read key of the sender.",
  },
  "webhook-ingest.rejections.max": {
    type: "integer",
    default: 1_000,
    unit: "rejections",
    min: 10,
    max: 100_000,
    secrecy: "internal",
    reload: "live",
    effect: "Number of rejections that are kept for each source, the newest ones.",
  },
});

export type Properties = typeof properties;
