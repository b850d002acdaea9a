import { internalProperties, principalProperties } from "@signalbox/auth/properties";
import { defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { defineProperties } from "@signalbox/runtime";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { cacheProperties, databaseProperties } from "@signalbox/storage/properties";

export { canaryProperties } from "./canary/canary-properties.ts";

/** The sizes of pages. */
export const pageProperties = defineProperties({
  "limits.maxPageSize": limitProperties["limits.maxPageSize"],
  "defaults.pageSize": defaultProperties["defaults.pageSize"],
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
  ...pageProperties,
});
