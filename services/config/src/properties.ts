import { principalProperties } from "@signalbox/auth/properties";
import { defineProperties } from "@signalbox/config";
import { publishedProperties } from "@signalbox/contracts/properties";
import { commonProperties } from "@signalbox/service/common-properties";

/** Every property of the config service. */
export const properties = defineProperties({
  ...commonProperties,
  ...principalProperties,
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
