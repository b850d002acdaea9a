import type { Exchange, Step } from "../app/exchange.ts";
import { requestFingerprint } from "../idempotency/fingerprint.ts";
import type { IdempotencyClaim } from "../idempotency/idempotency.ts";
import { idempotencyKeyOf } from "../idempotency/idempotency-key.ts";
import { jsonText } from "../responses/json-text.ts";

/**
 * Claims the `Idempotency-Key`, or answers with what the same request got before. What a multipart body holds is known
 * to the handler alone, so there the handler claims it. Who is blocked by now gets the stored answer or the refusal.
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
    accountId: exchange.principal.accountId,
    key,
    sealed: spec.idempotent === "sealed",
    fingerprintOf: (content) =>
      requestFingerprint(exchange.request.method ?? "", pathOf(exchange), exchange.query, content),
    textOf: (response) => jsonText(exchange.route, exchange.edge.strict, response),
  });
}

const pathOf = ({ request }: Exchange): string => (request.url ?? "").replace(/\?.*$/, "").replace(/\/+$/, "");
