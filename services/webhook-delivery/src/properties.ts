import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { capabilityProperties } from "@signalbox/contracts/properties";
import { commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

/** Every property of the webhook-delivery service. */
export const properties = defineProperties({
  ...commonProperties,
  ...principalProperties,
  ...secretsProperties,
  "capabilities.webhooks": capabilityProperties["capabilities.webhooks"],
  "webhook-delivery.outbound.allow": {
    type: "list",
    default: [],
    pattern: "\\S+:(\\*|[0-9]{1,5})",
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, that endpoints may use although they are not public; http is then allowed there too.",
  },
  "webhook-delivery.attempt.timeout": {
    type: "integer",
    default: 15_000,
    unit: "ms",
    min: 100,
    max: 60_000,
    secrecy: "internal",
    reload: "live",
    effect: "How long one attempt may take, from connecting to the last byte of the answer.",
  },
  "webhook-delivery.attempts.in-flight-max": {
    type: "integer",
    default: 128,
    min: 1,
    max: 10_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Attempts that one instance makes at the same time.",
  },
  "webhook-delivery.attempts.in-flight-max-per-endpoint": {
    type: "integer",
    default: 16,
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Attempts that one instance makes at one endpoint at the same time, so that a slow one cannot take all.",
  },
  "webhook-delivery.attempts.lease": {
    type: "integer",
    default: 90_000,
    unit: "ms",
    min: 1_000,
    max: 600_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "After how long a delivery whose instance died is attempted again. Must be longer than any attempt and its record, or a slow one is made twice.",
  },
  "webhook-delivery.endpoints.max": {
    type: "integer",
    default: 100,
    unit: "endpoints",
    min: 1,
    max: 10_000,
    secrecy: "internal",
    reload: "live",
    effect: "Endpoints that one account may have; every event may cost a delivery for each.",
  },
  "webhook-delivery.secret.rotation-overlap": {
    type: "integer",
    default: 86_400_000,
    unit: "ms",
    min: 0,
    max: 604_800_000,
    secrecy: "internal",
    reload: "live",
    effect: "How long after a rotation deliveries carry the signature of the old secret as well.",
  },
  "webhook-delivery.retention": retentionProperty(
    "How long events, their deliveries and attempts are kept; held deliveries end with it.",
  ),
});

export type Properties = typeof properties;
