import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { capabilityProperties } from "@signalbox/contracts/properties";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

/** Every property of the webhook-delivery service. */
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
    effect: "After how long of failures the owner of an endpoint is told that it fails.",
  },
  "webhook-delivery.failing.failures-min": {
    type: "integer",
    default: 10,
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "How many failures that takes at least.",
  },
  "webhook-delivery.failing.disable-after": {
    type: "integer",
    default: 432_000_000,
    unit: "ms",
    min: 60_000,
    max: 2_592_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "After how long of failures an endpoint is disabled. It is then asked once an hour whether it works again.",
  },
  "webhook-delivery.failing.disable-failures-min": {
    type: "integer",
    default: 20,
    min: 1,
    max: 1_000_000,
    secrecy: "internal",
    reload: "live",
    effect: "How many failures that takes at least.",
  },
  "webhook-delivery.failing.percent": {
    type: "integer",
    default: 95,
    unit: "percent",
    min: 50,
    max: 100,
    secrecy: "internal",
    reload: "live",
    effect:
      "How much of all attempts since the first failure has to have failed; with more successes it is counted anew.",
  },
  "webhook-delivery.outbound.proxy": {
    type: "string",
    default: null,
    pattern: "http://[^/?#]+",
    secrecy: "secret",
    reload: "restart",
    local: true,
    effect:
      "The proxy that every delivery goes through: http://user:password@host:port. It is asked for a tunnel (CONNECT) to an address that was judged; its own faults use up no attempt. Left out, deliveries go out as they are.",
  },
  "webhook-delivery.outbound.http2": {
    type: "boolean",
    default: false,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect:
      "Whether deliveries go out in HTTP/2 where a receiver chooses it in the TLS handshake. Left out, all of them go out in HTTP/1.1.",
  },
  "webhook-delivery.outbound.allow": outboundAllowProperty(
    "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, that endpoints may use although they are not public; http is then allowed there too.",
  ),
  "webhook-delivery.attempts.published": {
    type: "string",
    default: "failed",
    choices: ["off", "failed", "all"],
    secrecy: "internal",
    reload: "live",
    effect:
      "Of which attempts `deliveryAttempted` of the graph tells. Each is one more event on the log, kept for an hour.",
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
  "webhook-delivery.attempts.delay-min": {
    type: "integer",
    default: 1_000,
    unit: "ms",
    min: 0,
    max: 60_000,
    secrecy: "internal",
    reload: "restart",
    local: true,
    effect: "The shortest wait between two attempts of a delivery, whatever its schedule says.",
  },
  "webhook-delivery.attempts.in-flight-max": {
    type: "integer",
    default: 4_096,
    min: 1,
    max: 20_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Attempts that one instance makes at the same time, each on a connection. Slow endpoints share a quarter.",
  },
  "webhook-delivery.attempts.in-flight-max-per-endpoint": {
    type: "integer",
    default: 64,
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect:
      "Attempts that one instance makes at one endpoint at the same time, at most. It begins with 16, gets one more for each success and half as many for each timeout.",
  },
  "webhook-delivery.attempts.in-flight-max-per-host": {
    type: "integer",
    default: 64,
    min: 1,
    max: 1_000,
    secrecy: "internal",
    reload: "restart",
    effect: "Attempts that one instance makes at one host and port at the same time, over all accounts.",
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
      "After how long a delivery is attempted by another instance although its own still lives; one that has gone loses its deliveries within seconds. Must be 10 s longer than any attempt, or the start is refused.",
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
