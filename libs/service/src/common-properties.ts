import { internalProperties, principalProperties } from "@signalbox/auth/properties";
import { defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { defineProperties } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { cacheProperties, databaseProperties } from "@signalbox/storage/properties";

/** The switch of the canary, for the services on its way. */
export const canaryProperties = defineProperties({
  "canary.enabled": {
    type: "boolean",
    default: true,
    secrecy: "internal",
    reload: "restart",
    effect:
      "True makes a change of our own every minute and measures that it arrives everywhere; customers see nothing of it.",
  },
});

/** The properties of every service that `openService` opens, explained at their declarations. */
export const commonProperties = defineProperties({
  ...runtimeProperties,
  ...databaseProperties,
  ...cacheProperties,
  ...eventsProperties,
  ...internalProperties,
  ...httpProperties,
  "auth.principals.cache-max": principalProperties["auth.principals.cache-max"],
  "limits.maxPageSize": limitProperties["limits.maxPageSize"],
  "defaults.pageSize": defaultProperties["defaults.pageSize"],
});
