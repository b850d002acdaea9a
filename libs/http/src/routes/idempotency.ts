import type { Principal } from "@signalbox/auth";
import { type Clock, hours, minutes } from "@signalbox/core";
import type { Pool, Presence, Sealer, Tx } from "@signalbox/storage";
import type { HttpResponse } from "./http-response.ts";

/** The `Idempotency-Key` of one request. Without the header every call does nothing. */
export interface Idempotency {
  /** The key that the client sent, or null. */
  readonly key: string | null;
  /**
   * Claims the key of a multipart request, whose content only the handler knows: call it with the fields and the
   * SHA-256 of the file before any effect. A response is the stored answer to return unchanged; null means that the
   * handler goes on.
   * @throws AppError `validation_error` when another request used the key, `conflict` while the same one is in
   * progress.
   */
  begin(content: unknown): Promise<HttpResponse | null>;
  /**
   * Stores the answer in the transaction of the effect, so that both happen or neither. Call it last, then return the
   * same response. @throws AppError `conflict` when another request took the key over.
   */
  complete(tx: Tx, response: HttpResponse): Promise<void>;
}

/** Adds the framework's own part: the end of a claim that the handler did not complete. */
export interface IdempotencyClaim extends Idempotency {
  /** Finds the answer to an earlier identical request. Claims nothing and reveals nothing else. */
  find(content: unknown): Promise<HttpResponse | null>;
  /**
   * Stores a success that was not completed in a transaction; releases the key after a refusal, so that it can be tried
   * again.
   */
  settle?(answer: HttpResponse): Promise<void>;
  /**
   * Replaces a completed answer that was stored before it could be built. Null means that there was no effect, and
   * releases the key.
   */
  revise?(answer: HttpResponse | null): Promise<void>;
}

/** The idempotency of a request without a key, or of a route that takes none. */
export const noIdempotency: IdempotencyClaim = {
  key: null,
  find: async () => null,
  begin: async () => null,
  complete: async () => {},
};

export interface IdempotencyOptions {
  readonly service: string;
  readonly pool: Pool;
  /** Ends the claims of a process with it; without a presence they end by time. */
  readonly presence?: Presence;
  /** Seals the answers of routes with `idempotent: "sealed"`; such a table is refused without it. */
  readonly sealer?: Sealer | undefined;
  readonly clock: Clock;
}

/** One request under a key, as the edge opens it. */
export interface KeyedRequest {
  /** The caller. A sealed answer shows a secret, so it goes to the credential that got it first and to no other. */
  readonly principal: Principal;
  readonly key: string;
  readonly sealed: boolean;
  readonly fingerprintOf: (content: unknown) => Buffer;
  /** Returns the JSON text of a response. */
  readonly textOf: (response: HttpResponse) => string;
}

/** Time for which an answer is replayed (CONTRACT §2). */
export const keptMs = hours(24);

/**
 * Longer than any request may take: an older claim without an answer belongs to a dead process, even if its presence is
 * still held.
 */
export const claimMs = minutes(5);
