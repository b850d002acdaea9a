import { internalProperties, principalProperties } from "@signalbox/auth/properties";
import { cacheProperties } from "@signalbox/cache/properties";
import { defineProperties } from "@signalbox/config";
import { publishedProperties } from "@signalbox/contracts/properties";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { databaseProperties } from "@signalbox/storage/properties";

/** Every property of the config service. */
export const properties = defineProperties({
  ...runtimeProperties,
  ...databaseProperties,
  ...cacheProperties,
  ...eventsProperties,
  ...internalProperties,
  ...principalProperties,
  ...httpProperties,
  ...publishedProperties,
  "server.name": {
    type: "string",
    default: "Signalbox",
    secrecy: "public",
    audience: "public",
    reload: "live",
    effect: "The name of this deployment that clients show.",
  },
  "server.support-url": {
    type: "string",
    default: null,
    pattern: "https?://.+",
    secrecy: "public",
    audience: "public",
    reload: "live",
    effect: "Where users of this deployment find help.",
  },
});

export type Properties = typeof properties;
