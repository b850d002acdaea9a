import type { Tx } from "@signalbox/storage";
import type { HttpResponse } from "../responses/http-response.ts";

/** The `Idempotency-Key` of one request. Without the header every call does nothing. */
export interface Idempotency {
  /** The key the client sent, or null. */
  readonly key: string | null;
  /**
   * For multipart routes, whose content only the handler knows: call it with the fields and the SHA-256 of the file
   * before any effect. A response is the stored answer to return as it is; null means go on.
   * @throws AppError `validation_error` when another request used the key, `conflict` while the same one is under way.
   */
  begin(content: unknown): Promise<HttpResponse | null>;
  /**
   * Stores the answer in the transaction of the effect, so that both happen or neither. Call it last, then return the
   * same response. @throws AppError `conflict` when another request took the key over.
   */
  complete(tx: Tx, response: HttpResponse): Promise<void>;
}

/** Adds what the framework does itself: the end of a claim that the handler did not complete. */
export interface IdempotencyClaim extends Idempotency {
  /** The answer that the same request got before, if it is there. Claims nothing, and tells of nothing else. */
  find(content: unknown): Promise<HttpResponse | null>;
  /** Keeps a success that was not completed in a transaction; gives the key back after a refusal, so it can be tried again. */
  settle?(answer: HttpResponse): Promise<void>;
  /**
   * Puts the answer in the place of what was completed before the answer could be made. Null says that there was no effect
   * after all, and gives the key back.
   */
  revise?(answer: HttpResponse | null): Promise<void>;
}

/** The idempotency of a request that carries no key, or of a route that takes none. */
export const noIdempotency: IdempotencyClaim = {
  key: null,
  find: async () => null,
  begin: async () => null,
  complete: async () => {},
};
