import { type Cache, cacheOptions, openCache } from "@signalbox/cache";
import type { cacheProperties } from "@signalbox/cache/properties";
import type { Configuration } from "@signalbox/config";
import { createRateLimits, type httpProperties, type RateLimits } from "@signalbox/http";
import type { ServiceContext } from "@signalbox/runtime";
import type { SharedParts } from "./shared-parts.ts";

type Context = Omit<ServiceContext<unknown>, "configuration"> & {
  readonly configuration: Pick<Configuration<typeof cacheProperties & typeof httpProperties>, "get" | "onChange">;
} & Pick<SharedParts, "limiters">;

/** The cache, and the rate limits that are counted with it. */
export async function openEdgeLimits(
  context: Context,
): Promise<{ readonly cache: Cache; readonly rateLimits: RateLimits }> {
  const { configuration, log, metrics, clock, runner } = context;
  const cache = await openCache({ ...cacheOptions(configuration), runner, log, metrics, clock });
  return { cache, rateLimits: createRateLimits({ context, cache, limiters: context.limiters }) };
}
