import { seconds } from "@signalbox/core";
import { Copies, type Pool } from "@signalbox/storage";
import type { EnforcedType } from "../event-types/event-type.ts";
import { listEventTypes } from "../event-types/event-type-store.ts";

/** Time for which another instance may use an outdated type. */
const limits = { max: 1_000, ttlMs: seconds(1) };

/** The types of each account with a schema that its events are checked against, by name; cached for a second. */
export type EnforcedTypes = Copies<ReadonlyMap<string, EnforcedType>>;

export const createEnforcedTypes = (pool: Pool): EnforcedTypes =>
  new Copies<ReadonlyMap<string, EnforcedType>>(async (accountId) => {
    const types = await listEventTypes(pool, accountId);
    const enforced = types.filter(({ schema, enforcement }) => schema !== null && enforcement !== "off");
    return new Map(enforced.map((type) => [type.name, { ...type, schema: JSON.stringify(type.schema) }]));
  }, limits);
