import { principalProperties } from "@signalbox/auth/properties";
import { capabilityProperties } from "@signalbox/contracts/properties";
import { outboundAllowProperty } from "@signalbox/net/allow-property";
import { defineProperties, property } from "@signalbox/runtime";
import { canaryProperties, commonProperties } from "@signalbox/service/common-properties";
import { retentionProperty, secretsProperties } from "@signalbox/storage/properties";

export const properties = defineProperties({
  ...commonProperties,
  ...canaryProperties,
  ...principalProperties,
  ...secretsProperties,
  "capabilities.webhooks": capabilityProperties["capabilities.webhooks"],
  "webhook-delivery.failing.after": property.integer(
    { default: 14_400_000, min: 60_000, max: 2_592_000_000, unit: "ms", reload: "live" },
    "Duration of failures after which the owner of an endpoint is notified.",
  ),
  "webhook-delivery.failing.failures-min": property.integer(
    { default: 10, min: 1, max: 1_000_000, reload: "live" },
    "Smallest number of failures for that notification.",
  ),
  "webhook-delivery.failing.disable-after": property.integer(
    { default: 432_000_000, min: 60_000, max: 2_592_000_000, unit: "ms", reload: "live" },
    "Duration of failures after which an endpoint is disabled. It is then probed once an hour.",
  ),
  "webhook-delivery.failing.disable-failures-min": property.integer(
    { default: 20, min: 1, max: 1_000_000, reload: "live" },
    "Smallest number of failures for disabling.",
  ),
  "webhook-delivery.failing.percent": property.integer(
    { default: 95, min: 50, max: 100, unit: "percent", reload: "live" },
    "Share of failed attempts since the first failure that counts as failing; below it the count starts again.",
  ),
  "webhook-delivery.pull.waits-max": property.integer(
    { default: 10_000, min: 1, max: 100_000 },
    "Largest number of polls and streams that wait for messages of pull endpoints in one instance.",
  ),
  "webhook-delivery.pull.waits-max-per-account": property.integer(
    { default: 100, min: 1, max: 100_000 },
    "Largest number of such polls and streams of one account.",
  ),
  "webhook-delivery.pull.consumers-max": property.integer(
    { default: 16, min: 1, max: 1_000, reload: "live" },
    "Largest number of named consumers of one pull endpoint; every event costs a delivery for each.",
  ),
  "webhook-delivery.replays.deliveries-max": property.integer(
    { default: 1_000_000, min: 1, max: 10_000_000, reload: "live" },
    "Largest number of deliveries of one replay. A replay that matches more is refused.",
  ),
  "webhook-delivery.outbound.proxy": property.string(
    { default: null, pattern: "http://[^/?#]+", format: "url", secrecy: "secret", local: true },
    "Proxy for every delivery: http://user:password@host:port. It receives a CONNECT to an address that has passed the address check. A proxy failure does not count as an attempt. Without it deliveries go out directly.",
  ),
  "webhook-delivery.outbound.http2": property.boolean(
    { default: false, local: true },
    "Sends deliveries over HTTP/2 to receivers that negotiate it in the TLS handshake. Otherwise all of them use HTTP/1.1.",
  ),
  "webhook-delivery.outbound.allow": outboundAllowProperty(
    "Addresses with port, such as 10.0.0.5:8443 or 127.0.0.1:*, that endpoints may use even though they are not public. Plain http is allowed there too.",
  ),
  "webhook-delivery.published-events.max": property.integer(
    { default: 20_000, min: 1, max: 10_000_000, unit: "events" },
    "Maximum number of events that an account may publish in 10 seconds; further ones get 429.",
  ),
  "webhook-delivery.attempts.published": property.string(
    { default: "failed", choices: ["off", "failed", "all"], reload: "live" },
    "Attempts that the subscription `deliveryAttempted` reports. Each costs an extra event on the log, kept for an hour.",
  ),
  "webhook-delivery.attempt.timeout": property.integer(
    { default: 15_000, min: 100, max: 60_000, unit: "ms", reload: "live" },
    "Time limit of one attempt, from connecting to the last byte of the answer.",
  ),
  "webhook-delivery.attempts.delay-min": property.integer(
    { default: 1_000, min: 0, max: 60_000, unit: "ms", local: true },
    "Shortest delay between two attempts of a delivery, even if its schedule has a shorter one.",
  ),
  "webhook-delivery.attempts.in-flight-max": property.integer(
    { default: 4_096, min: 1, max: 20_000 },
    "Largest number of concurrent attempts of one instance, each on a connection. Slow endpoints share a quarter.",
  ),
  "webhook-delivery.attempts.in-flight-max-per-endpoint": property.integer(
    { default: 64, min: 1, max: 1_000 },
    "Largest number of concurrent attempts of one instance at one endpoint. The limit starts at 16, grows by one with each success and halves with each timeout.",
  ),
  "webhook-delivery.attempts.in-flight-max-per-host": property.integer(
    { default: 64, min: 1, max: 1_000 },
    "Largest number of concurrent attempts of one instance at one host and port, over all accounts.",
  ),
  "webhook-delivery.attempts.lease": property.integer(
    { default: 90_000, min: 1_000, max: 600_000, unit: "ms" },
    "Time after which another instance takes over a delivery from an instance that is still alive; the deliveries of a dead instance are taken over within seconds. Must be 10 s longer than any attempt, or the start is refused.",
  ),
  "webhook-delivery.endpoints.max": property.integer(
    { default: 100, min: 1, max: 10_000, unit: "endpoints", reload: "live" },
    "Largest number of endpoints of one account; every event may cost a delivery for each.",
  ),
  "webhook-delivery.secret.rotation-overlap": property.integer(
    { default: 86_400_000, min: 0, max: 604_800_000, unit: "ms", reload: "live" },
    "Time after a rotation during which the previous secret also signs deliveries.",
  ),
  "webhook-delivery.retention": retentionProperty(
    "Time for which events, deliveries and attempts are kept; held deliveries end with it.",
  ),
});

export type Properties = typeof properties;
