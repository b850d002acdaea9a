import { type Clock, hours, minutes } from "@signalbox/core";
import type { Pool, Presence, Sealer } from "@signalbox/storage";
import type { HttpResponse } from "../responses/http-response.ts";

export interface IdempotencyOptions {
  readonly service: string;
  readonly pool: Pool;
  /** Ends the claims of a process with it; without one they end by time. */
  readonly presence?: Presence;
  /** Seals the answers of routes with `idempotent: "sealed"`; such a table is refused without it. */
  readonly sealer?: Sealer;
  readonly clock: Clock;
}

/** One request under a key, as the edge opens it. */
export interface KeyedRequest {
  readonly accountId: string;
  readonly key: string;
  readonly sealed: boolean;
  readonly fingerprintOf: (content: unknown) => Buffer;
  /** The JSON text of a response, parsed out. */
  readonly textOf: (response: HttpResponse) => string;
}

/** How long an answer is replayed (CONTRACT §2). */
export const keptMs = hours(24);

/** Longer than any request may take: a claim without an answer is then that of a process that died, whatever its presence says. */
export const claimMs = minutes(5);
