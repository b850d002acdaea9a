import { internalProperties, principalProperties } from "@signalbox/auth/properties";
import { cacheProperties } from "@signalbox/cache/properties";
import { defineProperties } from "@signalbox/config";
import { defaultProperties, limitProperties } from "@signalbox/contracts/properties";
import { eventsProperties } from "@signalbox/events/properties";
import { httpProperties } from "@signalbox/http/properties";
import { runtimeProperties } from "@signalbox/runtime/properties";
import { databaseProperties } from "@signalbox/storage/properties";

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
