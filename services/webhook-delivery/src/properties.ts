import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { capabilityProperties } from "@signalbox/contracts/properties";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

/** Properties of the webhook-delivery service. */
export const properties = defineProperties({
  ...commonProperties,
  ...principalProperties,
  ...secretsProperties,
  "capabilities.webhooks": capabilityProperties["capabilities.webhooks"],
  "webhook-delivery.failing.after": {
    type: "integer",
    default: 14_400_000,
    unit: "ms",
    min: 60_000,
    max: 2_592_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "Time of failures after which the owner of an endpoint is notified.",
  },
  "webhook-delivery.failing.failures-min": {
    type: "integer",
    default: 10,
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "Smallest number of failures for that notification.",
  },
  "webhook-delivery.failing.disable-after": {
    type: "integer",
    default: 432_000_000,
    unit: "ms",
    min: 60_000,
    max: 2_592_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "Time of failures after which an endpoint is disabled. It is then probed once an hour.",
  },
  "webhook-delivery.failing.disable-failures-min": {
    type: "integer",
    default: 20,
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "Smallest number of failures for disabling.",
  },
  "webhook-delivery.failing.percent": {
    type: "integer",
    default: 95,
    unit: "percent",
    min: 50,
    max: 100,
    secrecy: "internal",
    reload: "live",
    effect: "Share of failed attempts since the first failure that counts as failing; below it the count starts again.",
  },
  "webhook-delivery.replays.deliveries-max": {
    type: "integer",
    default: 1_000_000,
    min: 1,
    max: 10_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "Largest number of deliveries of one replay. One that matches more is refused.",
  },
  "webhook-delivery.outbound.proxy": {
    type: "string",
    default: null,
    pattern: "http://[^/?#]+",
    secrecy: "secret",
    reload: "restart",
    local: true,
    effect:
      "Proxy for every delivery: http://user:password@host:port. It gets a CONNECT to an address that has passed the address check. A fault of the proxy does not count as an attempt. Without it deliveries go out directly.",
  },
  "webhook-delivery.outbound.http2": {
    type: "boolean",
    default: false,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Sends deliveries over HTTP/2 to receivers that choose it in the TLS handshake. Otherwise all of them use HTTP/1.1.",
  },
  "webhook-delivery.outbound.allow": outboundAllowProperty(
    "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, that endpoints may use although they are not public. Plain http is allowed there too.",
  ),
  "webhook-delivery.attempts.published": {
    type: "string",
    default: "failed",
    choices: ["off", "failed", "all"],
    secrecy: "internal",
    reload: "live",
    effect:
      "Attempts that the subscription `deliveryAttempted` reports. Each is one more event on the log, kept for an hour.",
  },
  "webhook-delivery.attempt.timeout": {
    type: "integer",
    default: 15_000,
    unit: "ms",
    min: 100,
    max: 60_000,
    secrecy: "internal",
    reload: "live",
    effect: "Time limit of one attempt, from connecting to the last byte of the answer.",
  },
  "webhook-delivery.attempts.delay-min": {
    type: "integer",
    default: 1_000,
    unit: "ms",
    min: 0,
    max: 60_000,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: "Shortest delay between two attempts of a delivery, even if its schedule has a shorter one.",
  },
  "webhook-delivery.attempts.in-flight-max": {
    type: "integer",
    default: 4_096,
    min: 1,
    max: 20_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Largest number of concurrent attempts of one instance, each on a connection. Slow endpoints share a quarter.",
  },
  "webhook-delivery.attempts.in-flight-max-per-endpoint": {
    type: "integer",
    default: 64,
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Largest number of concurrent attempts of one instance at one endpoint. The limit starts at 16, grows by one with each success and halves with each timeout.",
  },
  "webhook-delivery.attempts.in-flight-max-per-host": {
    type: "integer",
    default: 64,
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Largest number of concurrent attempts of one instance at one host and port, over all accounts.",
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
      "Time after which another instance attempts a delivery whose own instance still lives; a dead instance loses its deliveries within seconds. Must be 10 s longer than any attempt, or the start is refused.",
  },
  "webhook-delivery.endpoints.max": {
    type: "integer",
    default: 100,
    unit: "endpoints",
    min: 1,
    max: 10_000,
    secrecy: "internal",
    reload: "live",
    effect: "Largest number of endpoints of one account; every event may cost a delivery for each.",
  },
  "webhook-delivery.secret.rotation-overlap": {
    type: "integer",
    default: 86_400_000,
    unit: "ms",
    min: 0,
    max: 604_800_000,
    secrecy: "internal",
    reload: "live",
    effect: "Time after a rotation in which the previous secret still signs deliveries too.",
  },
  "webhook-delivery.retention": retentionProperty(
    "Time for which events, deliveries and attempts are kept; held deliveries end with it.",
  ),
});

export type Properties = typeof properties;
