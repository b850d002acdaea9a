import type { RetentionRule } from "@signalbox/storage";
import { Claim } from "./claim.ts";
import type { IdempotencyClaim } from "./idempotency.ts";
import type { IdempotencyOptions, KeyedRequest } from "./keyed-request.ts";

/** Opaque to services: hand it to `createHttpApp`. */
export interface IdempotencyStore {
  /** True when answers that show secrets can be kept. */
  readonly seals: boolean;
  open(request: KeyedRequest): IdempotencyClaim;
}

/** Deletes records past their 24 hours. */
export const idempotencyRetention: RetentionRule = {
  name: "idempotency retention",
  table: "signalbox.idempotency",
  column: "expires_at",
  keepMs: 0,
};

/** Creates the keeper of `Idempotency-Key` records, rows of the service's own database. */
export function createIdempotencyStore(options: IdempotencyOptions): IdempotencyStore {
  return { seals: options.sealer !== undefined, open: (request) => new Claim(options, request) };
}
