import { principalProperties } from "@signalbox/auth/properties";
import { featureProperties, limitProperties } from "@signalbox/contracts/properties";
import { MiB } from "@signalbox/core";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { defineProperties, property } from "@signalbox/runtime";
import { commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

const refusals = (perMinute: number, effect: string) =>
  property.integer({ default: perMinute, min: 1, max: 1_000_000, unit: "requests" }, effect);

export const properties = defineProperties({
  ...commonProperties,
  ...principalProperties,
  ...secretsProperties,
  "features.integrations": featureProperties["features.integrations"],
  "limits.maxWebhookBytes": limitProperties["limits.maxWebhookBytes"],
  "webhook-ingest.tolerance": {
    // A recorded delivery can be replayed for this long.
    ...property.integer(
      { default: 300_000, min: 1_000, max: 600_000, unit: "ms", reload: "live" },
      "Largest difference, both ways, between the time a partner signs and ours; beyond it the answer is 401.",
    ),
    guarded: true,
  },
  "webhook-ingest.refusals.unknown-sources": refusals(
    30,
    "Refusals per minute of one address by unknown, paused and blocked sources; beyond it these answer 429 and do not read the body.",
  ),
  "webhook-ingest.refusals.failed-verifications": refusals(
    60,
    "Failed verifications per minute of one address at one source; beyond it this source answers 429 and does not read the body.",
  ),
  "webhook-ingest.outbound.allow": outboundAllowProperty(
    "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, that partners' key sets may be read from although they are not public. Plain http is allowed there too.",
  ),
  "webhook-ingest.received.retention": retentionProperty(
    "Time for which a received delivery is kept; a later repetition counts as new.",
  ),
  "webhook-ingest.sources.max": property.integer(
    { default: 100, min: 1, max: 10_000, unit: "sources", reload: "live" },
    "Largest number of sources of one account.",
  ),
  "webhook-ingest.bookmarks.max": property.integer(
    { default: 100, min: 1, max: 1_000, unit: "bookmarks", reload: "live" },
    "Largest number of bookmarks of one account; their bodies have 16 MiB in all.",
  ),
  "webhook-ingest.reconciliation.interval": property.integer(
    { default: 900_000, min: 60_000, max: 86_400_000, unit: "ms", reload: "live" },
    "Time between two comparisons of a source with its sender's list, for sources with a read key of the sender.",
  ),
  "webhook-ingest.rejections.max": property.integer(
    { default: 1_000, min: 10, max: 100_000, unit: "rejections", reload: "live" },
    "Number of rejections without a kept body that are listed for each source, the newest ones.",
  ),
  "webhook-ingest.rejections.max-bytes": property.integer(
    { default: 64 * MiB, min: 1 * MiB, max: 16_384 * MiB, unit: "bytes", reload: "live" },
    "Bytes of rejected webhooks, headers included, that are kept for each source with keep_rejected_bodies, the newest ones.",
  ),
});

export type Properties = typeof properties;
