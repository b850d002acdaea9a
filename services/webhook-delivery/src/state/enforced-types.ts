import { seconds } from "@signalbox/core";
import type { Pool, Tx } from "@signalbox/storage";
import { Copies } from "@signalbox/storage";
import type { EnforcedType } from "../event-types/event-type.ts";
import { listEventTypes } from "../event-types/event-type-store.ts";

/** Time for which another instance may use an outdated type. */
const limits = { max: 1_000, ttlMs: seconds(1) };

/** The cache of the types whose events are checked. */
export class EnforcedTypes {
  readonly #copies: Copies<ReadonlyMap<string, EnforcedType>>;

  constructor(pool: Pool) {
    this.#copies = new Copies(async (accountId): Promise<ReadonlyMap<string, EnforcedType>> => {
      const types = await listEventTypes(pool, accountId);
      const enforced = types.filter(({ schema, enforcement }) => schema !== null && enforcement !== "off");
      return new Map(enforced.map((type) => [type.name, { ...type, schema: JSON.stringify(type.schema) }]));
    }, limits);
  }

  /** Returns the account's types with a schema to check, by name; cached for a second. */
  ofAccount(accountId: string): Promise<ReadonlyMap<string, EnforcedType>> {
    return this.#copies.find(accountId);
  }

  /** Reads the types of the account again after the commit. */
  forgetAfter(tx: Tx, accountId: string): void {
    this.#copies.forgetAfter(tx, [accountId]);
  }
}
