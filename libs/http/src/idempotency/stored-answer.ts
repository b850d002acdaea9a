import type { SealedColumn, SealedPlace } from "@signalbox/storage";
import type { HttpResponse } from "../routes/http-response.ts";
import type { IdempotencyOptions, KeyedRequest } from "../routes/idempotency.ts";

/** The columns of an answer. `status` is null while the request is in progress. */
export interface StoredAnswer {
  readonly status: number | null;
  readonly headers: Readonly<Record<string, string>> | null;
  /** JSON text, possibly sealed; null for an answer without a body. */
  readonly body: string | null;
  readonly sealed: boolean;
}

/** Converts an answer to its columns. @throws Error when it must be sealed and there is no sealer. */
export function writeAnswer(options: IdempotencyOptions, request: KeyedRequest, response: HttpResponse): StoredAnswer {
  const text = response.body.kind === "json" ? request.textOf(response) : null;
  const kept = { ...response.headers };
  if (response.etag !== undefined) kept.etag = response.etag;
  const seal = request.sealed && text !== null;
  if (seal && !options.sealer) throw new Error("an answer with a secret cannot be stored without a sealer");
  return {
    status: response.status,
    headers: kept,
    body: seal ? (options.sealer?.seal(text, placeOf(options, request)) ?? null) : text,
    sealed: seal,
  };
}

/** Restores the answer, marked as a replay. */
export function readAnswer(options: IdempotencyOptions, request: KeyedRequest, stored: StoredAnswer): HttpResponse {
  const { etag, ...headers } = stored.headers ?? {};
  const bytes = bodyOf(options, request, stored);
  return {
    status: stored.status as number,
    etag,
    headers: { ...headers, "Idempotent-Replayed": "true" },
    body: bytes ? { kind: "bytes", bytes, contentType: "application/json" } : { kind: "empty" },
  };
}

function bodyOf(options: IdempotencyOptions, request: KeyedRequest, { body, sealed }: StoredAnswer): Buffer | null {
  if (body === null) return null;
  if (!sealed) return Buffer.from(body);
  if (!options.sealer) throw new Error("a sealed answer cannot be opened without a sealer");
  return options.sealer.open(body, placeOf(options, request));
}

const placeOf = ({ service }: IdempotencyOptions, { principal, key }: KeyedRequest): SealedPlace =>
  placeIn(service, [principal.accountId, key]);

const placeIn = (service: string, key: readonly unknown[]): SealedPlace => ({
  service,
  table: "idempotency",
  row: JSON.stringify(key),
});

/** The answers that are stored sealed. */
export const sealedAnswers = (service: string): SealedColumn => ({
  table: "signalbox.idempotency",
  column: "body",
  key: ["account_id", "key"],
  condition: "sealed",
  place: (key) => placeIn(service, key),
});
