import type { IncomingHttpHeaders } from "node:http";
import { masked } from "@signalbox/core";
import type { SchemeName } from "@signalbox/webhook-signatures";
import type { Source } from "./source.ts";

export type Headers = Readonly<Record<string, string | string[]>>;

const credential = /signature|secret|token|password|authori[sz]ation|credential|cookie|hmac|api-?key/;

/** Returns all headers of a webhook in lower case, with credentials masked: lists must not show them. */
export function keptHeaders(headers: IncomingHttpHeaders, proofHeaders: readonly string[] = []): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value = ""]) => [
      name,
      credential.test(name) || proofHeaders.includes(name) ? masked : value,
    ]),
  );
}

/** Headers in which a scheme's sender passes data besides the body. */
const shownByScheme: Readonly<Record<SchemeName, readonly string[]>> = {
  "standard-webhooks": ["webhook-id", "webhook-timestamp", "svix-id", "svix-timestamp"],
  stripe: [],
  github: [
    "x-github-delivery",
    "x-github-event",
    "x-github-hook-id",
    "x-github-hook-installation-target-id",
    "x-github-hook-installation-target-type",
    "x-github-enterprise-host",
  ],
  slack: ["x-slack-request-timestamp", "x-slack-retry-num", "x-slack-retry-reason"],
  shopify: [
    "x-shopify-topic",
    "x-shopify-shop-domain",
    "x-shopify-api-version",
    "x-shopify-webhook-id",
    "x-shopify-event-id",
    "x-shopify-triggered-at",
  ],
  hmac: ["x-delivery-id", "x-event-type", "x-timestamp"],
  ed25519: ["x-signature-timestamp"],
  token: [],
  jwt: [],
};

/** Returns the headers of the event: those of the scheme, those that the source asks for, and the media type. */
export function eventHeaders({ scheme, settings }: Source, headers: Headers): Record<string, string> {
  const { deliveryIdHeader, eventTypeHeader, timestampHeader, forwardedHeaders = [] } = settings;
  const places = [settings.deliveryIdFrom, settings.eventTypeFrom]
    .flat()
    .flatMap((place) => (typeof place === "object" && "header" in place ? [place.header] : []));
  const named = [deliveryIdHeader, eventTypeHeader, timestampHeader, ...places].filter((name) => name !== undefined);
  const shown = ["content-type", ...shownByScheme[scheme], ...named, ...forwardedHeaders];
  return Object.fromEntries(
    [...new Set(shown)].flatMap((name) => {
      const value = headers[name];
      return typeof value === "string" && value !== masked ? [[name, value]] : [];
    }),
  );
}

/** Returns the headers, and records the names that are read. */
export function observed(headers: IncomingHttpHeaders, read: Set<string>): IncomingHttpHeaders {
  return new Proxy(headers, {
    get(target, name) {
      if (typeof name === "string") read.add(name);
      return Reflect.get(target, name);
    },
  });
}
