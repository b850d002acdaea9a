import { createHash } from "node:crypto";
import { AppError } from "@signalbox/core";
import type { Exchange, Step } from "../exchange/exchange.ts";
import { jsonText } from "../responses/json-text.ts";
import type { IdempotencyClaim } from "../routes/idempotency.ts";

/**
 * Claims the `Idempotency-Key`, or returns the stored answer of the same request. The content of a multipart body is
 * known to the handler alone, so the handler claims it. A blocked caller gets the stored answer or the refusal.
 */
export const beginIdempotency: Step = async (exchange) => {
  const claim = openClaim(exchange);
  if (exchange.blocked) {
    const kept = await claim?.find(exchange.body);
    if (kept) return kept;
    throw exchange.blocked;
  }
  if (claim === null) return null;
  exchange.idempotency = claim;
  if (exchange.body === null && exchange.route.body?.kind === "multipart") return null;
  return claim.begin(exchange.body);
};

function openClaim(exchange: Exchange): IdempotencyClaim | null {
  const key = idempotencyKeyOf(exchange.headers["idempotency-key"]);
  const { idempotency: store } = exchange.edge;
  if (key === null || !store || !exchange.principal) return null;
  const { spec } = exchange.route;
  return store.open({
    principal: exchange.principal,
    key,
    sealed: spec.idempotent === "sealed",
    fingerprintOf: (content) =>
      requestFingerprint(exchange.request.method ?? "", pathOf(exchange), exchange.query, content),
    textOf: (response) => jsonText(exchange.route, exchange.edge.strict, response),
  });
}

const pathOf = ({ request }: Exchange): string => (request.url ?? "").replace(/\?.*$/, "").replace(/\/+$/, "");

/** Reads `Idempotency-Key`: 1–255 visible ASCII characters. @throws AppError `invalid_request` for another form. */
export function idempotencyKeyOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  if (typeof header === "string" && /^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new AppError("invalid_request", "Idempotency-Key must be 1 to 255 visible ASCII characters.", {
    field: "Idempotency-Key",
  });
}

/**
 * Computes the identity of a request (CONTRACT §2): method, path, parsed parameters and parsed content. The order of
 * members does not matter.
 */
export function requestFingerprint(method: string, path: string, query: unknown, content: unknown): Buffer {
  const text = JSON.stringify(
    [method, path, query ?? {}, Buffer.isBuffer(content) ? digest(content) : (content ?? null)],
    ordered,
  );
  return createHash("sha256").update(text).digest();
}

function ordered(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const digest = (content: Buffer): string => createHash("sha256").update(content).digest("hex");
