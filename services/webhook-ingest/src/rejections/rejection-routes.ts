import { examples, identifier, timestamp, webhookSourceExample } from "@signalbox/contracts";
import { MiB } from "@signalbox/core";
import type { PageLimits } from "@signalbox/graphql";
import {
  createRoutes,
  type HttpResponse,
  listPage,
  ok,
  pageOf,
  pageParameters,
  type Routes,
  refused,
} from "@signalbox/http";
import { z } from "zod";
import { explainWebhook } from "../receiving/explain-webhook.ts";
import type { Judge } from "../receiving/judge-webhook.ts";
import type { KnownSources } from "../sources/known-sources.ts";
import { addressOf, ingestPathOf } from "../sources/source.ts";
import type { SourceStore } from "../sources/source-store.ts";
import type { Rejection, RejectionInFull } from "./rejection.ts";
import type { RejectionStore } from "./rejection-store.ts";
import type { RetryOutcome, RetryRejection } from "./retry-rejection.ts";

const rejectionExample = {
  id: "rej_01kbdq4v00e8w9x2m5n7p3r6tz",
  reason: "signature_mismatch",
  status: 401,
  body_bytes: 38,
  address: "192.0.2.10",
  kept: true,
  received_id: null,
  rejected_at: "2026-01-01T09:00:00.000Z",
};

const RejectionResource = z
  .object({
    id: identifier("The rejection"),
    reason: z.string().describe("A stable word, such as signature_mismatch."),
    status: z.int().describe("Status of the answer to the partner."),
    body_bytes: z.int(),
    address: z.string(),
    kept: z.boolean().describe("True when the whole webhook is kept and can be retried."),
    received_id: z.string().nullable().describe("The received webhook that a retry created."),
    rejected_at: timestamp,
  })
  .meta({ id: "WebhookRejection" })
  .register(examples, { example: rejectionExample });

const RejectionInFullResource = RejectionResource.extend({
  headers: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .nullable()
    .describe(
      "All headers as they came; signatures and credentials are masked. Null when the source keeps no refused webhooks.",
    ),
  body_base64: z.string().nullable().describe("The first 4 KiB of the body."),
})
  .meta({ id: "WebhookRejectionInFull" })
  .register(examples, {
    example: { ...rejectionExample, headers: { "x-signature": "******" }, body_base64: "eyJpZCI6ImQtMSJ9" },
  });

const RetriedResource = z
  .object({
    outcome: z
      .enum(["received", "repeated"])
      .describe("repeated: it was already received, by a retry or a repetition."),
    received_id: z.string().nullable(),
  })
  .meta({ id: "RetriedWebhookRejection" })
  .register(examples, { example: { outcome: "received", received_id: "rcv_01kbdq4v00e8w9x2m5n7p3r6tz" } });

const VerifyBody = z
  .strictObject({
    headers: z.record(z.string().max(256), z.string().max(16_384)).describe("The headers as they came."),
    body: z.string().optional().describe("The body as text, byte for byte."),
    body_base64: z.base64().optional().describe("The body, when it is not text."),
    received_at: z.iso.datetime({ offset: true }).optional().describe("Time of its arrival. Default: now."),
    url: z.url().max(2_048).optional().describe("URL that it was posted to, if the signature covers it."),
  })
  .refine(({ body, body_base64 }) => body === undefined || body_base64 === undefined, {
    path: ["body_base64"],
    error: "Give the body once.",
  })
  .meta({ id: "VerifyWebhook" })
  .register(examples, {
    example: { headers: { "content-type": "application/json", "x-signature": "sha256=ab" }, body: "{}" },
  });

const ExplanationResource = z
  .object({
    outcome: z.enum(["accepted", "challenged", "dropped", "refused"]).describe("Outcome that the webhook would have."),
    reason: z.string().nullable().describe("Stable word, the same as in rejections."),
    step: z.string().nullable().describe("The step that failed."),
    expected: z.string().nullable().describe("Expectation of the failed step."),
    hints: z.array(z.string()).describe("Changes that would make it verify."),
    headers_read: z.array(z.string()).describe("Headers that were read."),
    delivery_id: z.string().nullable(),
    event_type: z.string().nullable(),
  })
  .meta({ id: "WebhookExplanation" })
  .register(examples, {
    example: {
      ...{ outcome: "refused", reason: "signature_mismatch", step: "signature" },
      expected: "A signature over exactly these bytes, made with a secret of the source.",
      hints: ["It would verify without the line break at its end."],
      headers_read: ["content-encoding", "x-signature", "x-timestamp"],
      ...{ delivery_id: null, event_type: null },
    },
  });

const read = { scopes: ["webhooks:read"] } as const;
const write = { scopes: ["webhooks:write"] } as const;
const path = "/api/v1/webhooks/sources/:id";
/** Size of a body of a mebibyte in base 64, with its headers. */
const verifyBytesMax = 2 * MiB;

export interface RejectionRoutes {
  readonly sourceStore: SourceStore;
  readonly rejectionStore: RejectionStore;
  readonly retryRejection: RetryRejection;
  readonly knownSources: Pick<KnownSources, "reread">;
  readonly judge: Judge;
  readonly webhookBytesMax: () => number;
  readonly pageLimits: PageLimits;
}

/** REST routes of refused webhooks with their reasons. */
export function rejectionRoutes(parts: RejectionRoutes): Routes {
  const routes = createRoutes({ exampleIds: { id: webhookSourceExample.id, rejection_id: rejectionExample.id } });
  declareReads(routes, parts);
  declareRetry(routes, parts);
  declareVerify(routes, parts);
  return routes;
}

function declareReads(routes: Routes, { sourceStore, rejectionStore, pageLimits }: RejectionRoutes): void {
  routes.get(`${path}/rejections`, {
    operationId: "rejectedWebhooks",
    summary: "List refused webhooks with the reason, newest first",
    auth: read,
    query: z.object(pageParameters(pageLimits)),
    responses: { 200: pageOf(RejectionResource), 404: "error" },
    async handle({ caller, params: { id }, query }) {
      if ((await sourceStore.find(caller.accountId, id)) === null) return refused(404, "not_found");
      return listPage(query, (range) => rejectionStore.list([id], range), viewRejection, positionOfRejection);
    },
  });
  routes.get(`${path}/rejections/:rejection_id`, {
    operationId: "rejectedWebhook",
    summary: "Read a refused webhook with its headers and body, if they are kept",
    auth: read,
    responses: { 200: RejectionInFullResource, 404: "error" },
    async handle({ caller, params: { id, rejection_id: ref } }) {
      const source = await sourceStore.find(caller.accountId, id);
      const found = source && (await rejectionStore.find(id, ref));
      return found ? ok(viewRejectionInFull(found)) : refused(404, "not_found");
    },
  });
}

function declareRetry(routes: Routes, { rejectionStore, retryRejection }: RejectionRoutes): void {
  routes.post(`${path}/rejections/:rejection_id/retry`, {
    operationId: "retryWebhookRejection",
    summary: "Verify a refused webhook again",
    description:
      "Verifies it with the current secrets and settings, at the time of its arrival. An accepted webhook is received like any other, once.",
    auth: write,
    audit: "webhook_source.retry_rejection",
    responses: { 200: RetriedResource, 404: "error", 409: "error" },
    idempotent: true,
    write: {
      find: (tx, { caller, params: { id, rejection_id: ref } }) => rejectionStore.lock(tx, caller.accountId, id, ref),
      change: (tx, rejection, { caller }) => retryRejection(tx, caller, rejection),
      answer: answerOfRetry,
    },
  });
}

function declareVerify(routes: Routes, parts: RejectionRoutes): void {
  const { sourceStore, knownSources, judge, webhookBytesMax } = parts;
  routes.post(`${path}/verify`, {
    operationId: "verifyWebhook",
    summary: "Explain the outcome of a webhook",
    description: "Shows the failed step and its expectation. Nothing is received, and no signature is shown.",
    auth: { ...read, access: "read" },
    audit: { unaudited: "An explanation only reads." },
    body: { json: VerifyBody, maxBytes: verifyBytesMax },
    responses: { 200: ExplanationResource, 404: "error", 422: "error" },
    async handle({ caller, params: { id }, body }) {
      const source = await sourceStore.find(caller.accountId, id);
      const known = source && (await knownSources.reread(id));
      if (!known) return refused(404, "not_found");
      const at = body.received_at === undefined ? judge.clock.now() : new Date(body.received_at);
      const then = { ...judge, clock: { ...judge.clock, now: () => at, nowMs: () => at.getTime() } };
      const webhook = { ...webhookOf(body, ingestPathOf(source)), sourceId: id, address: addressOf(source) };
      return ok(viewExplanation(await explainWebhook(then, webhook, known, webhookBytesMax())));
    },
  });
}

/** Returns a pasted webhook in the form that Node gives requests. */
function webhookOf({ headers, body = "", body_base64: base64, url }: z.output<typeof VerifyBody>, path: string) {
  return {
    method: "POST",
    url: url ?? path,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()])),
    body: base64 === undefined ? Buffer.from(body) : Buffer.from(base64, "base64"),
  };
}

export const positionOfRejection = (row: Rejection) => ({ at: row.rejectedAt, id: row.id });

const viewRejection = (rejection: Rejection) => ({
  id: rejection.id,
  reason: rejection.reason,
  status: rejection.status,
  body_bytes: rejection.bodyBytes,
  address: rejection.address,
  kept: rejection.isKept,
  received_id: rejection.receivedId,
  rejected_at: rejection.rejectedAt.toISOString(),
});

const viewRejectionInFull = (rejection: RejectionInFull) => ({
  ...viewRejection(rejection),
  headers: rejection.headers,
  body_base64: rejection.body?.toString("base64") ?? null,
});

const viewExplanation = ({
  headersRead,
  deliveryId,
  eventType,
  ...rest
}: Awaited<ReturnType<typeof explainWebhook>>) => ({
  ...rest,
  headers_read: headersRead,
  delivery_id: deliveryId,
  event_type: eventType,
});

function answerOfRetry(result: RetryOutcome): HttpResponse {
  if (result.outcome === "received" || result.outcome === "repeated") {
    return ok({ outcome: result.outcome, received_id: result.receivedId });
  }
  return refused(409, "conflict", retryRefusal(result));
}

/** Describes why a retry changed nothing, for REST and GraphQL. */
export function retryRefusal(result: Extract<RetryOutcome, { outcome: "refused" | "not-kept" }>) {
  const message =
    result.outcome === "refused"
      ? `The webhook is refused again: ${result.reason}.`
      : "The webhook was not kept. Set keep_rejected_bodies on the source, and have the webhook sent again.";
  return { message, details: [{ field: "rejection", code: "invalid" as const, message }] };
}
