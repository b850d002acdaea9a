import type { Configuration } from "@signalbox/runtime";
import type { databaseProperties } from "./database-properties.ts";
import type { PoolOptions } from "./pool.ts";

type FromProperties = Required<
  Pick<PoolOptions, "url" | "max" | "waitingMax" | "connectTimeoutMs" | "statementTimeoutMs" | "lockTimeoutMs">
>;

/**
 * Converts `databaseProperties` to pool options: `openPool({ ...context, ...databaseOptions(context.configuration), …
 * })`.
 */
export function databaseOptions(configuration: Configuration<typeof databaseProperties>): FromProperties {
  return {
    url: configuration.get("database.url"),
    max: configuration.get("database.pool.max"),
    waitingMax: configuration.get("database.pool.waiting-max"),
    connectTimeoutMs: configuration.get("database.connect-timeout"),
    statementTimeoutMs: configuration.get("database.statement-timeout"),
    lockTimeoutMs: configuration.get("database.lock-timeout"),
  };
}
