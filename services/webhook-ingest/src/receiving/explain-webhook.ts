import { examples, timeInput, webhookSourceExample } from "@signalbox/contracts";
import { MiB } from "@signalbox/core";
import { ok } from "@signalbox/http";
import { type Edges, edgesOf, operation } from "@signalbox/service";
import { z } from "zod";
import type { IngestService } from "../context/ingest-service.ts";
import type { PostedWebhook } from "../judging/decode-body.ts";
import { judgePosted } from "../judging/judge-webhook.ts";
import { observed } from "../sources/request-headers.ts";
import { addressOf, ingestPathOf, missingSource } from "../sources/source.ts";
import type { CachedSource } from "../sources/source-row.ts";
import { findSource } from "../sources/source-store.ts";

/** Size of a body of a mebibyte in base 64, with its headers. */
const verifyBytesMax = 2 * MiB;

const VerifyBody = z
  .strictObject({
    headers: z.record(z.string().max(256), z.string().max(16_384)).describe("The headers as they came."),
    body: z.string().optional().describe("The body as text, byte for byte."),
    body_base64: z.base64().optional().describe("The body, when it is not text."),
    received_at: timeInput.optional().describe("Time of its arrival. Default: now."),
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

/** Explanation of an outcome. It holds nothing that helps to forge a signature. */
const ExplanationResource = z
  .object({
    outcome: z
      .enum(["accepted", "challenged", "dropped", "filtered", "refused"])
      .describe("Outcome that the webhook would have; `filtered`: answered 202 and not stored, for its type."),
    reason: z.string().nullable().describe("Stable word, the same as in rejections."),
    step: z.string().nullable().describe("The step that failed."),
    expected: z.string().nullable().describe("Expectation of the failed step."),
    hints: z.array(z.string()).describe("Changes that would make it verify."),
    headers_read: z.array(z.string()).describe("Headers that were read."),
    delivery_id: z
      .string()
      .nullable()
      .describe("The id that the sender gave to the delivery; null when none was found."),
    event_type: z.string().nullable().describe("The type that the sender gave to the event; null when none was found."),
  })
  .meta({ id: "WebhookExplanation" })
  .register(examples, {
    example: {
      outcome: "refused",
      reason: "signature_mismatch",
      step: "signature",
      expected: "A signature over exactly these bytes, made with a secret of the source.",
      hints: ["It would verify without the line break at its end."],
      headers_read: ["content-encoding", "x-signature", "x-timestamp"],
      delivery_id: null,
      event_type: null,
    },
  });

/** The explanation of a pasted webhook. Over REST alone: an input of the graph would change the names of headers. */
export function explainApi(service: IngestService): Edges {
  const verifyWebhook = operation({
    summary: "Explain the outcome of a webhook",
    description: "Shows the failed step and its expectation. Nothing is received, and no signature is shown.",
    auth: { scopes: ["webhooks:read"], access: "read" },
    audit: { unaudited: "An explanation only reads." },
    input: VerifyBody,
    async act({ caller, params: { id }, input }) {
      const source = await findSource(service, caller.accountId, id);
      const known = source && (await service.sourceCache.reread(id));
      if (!known) return { outcome: "missing" } as const;
      const at = input.received_at === undefined ? service.clock.now() : new Date(input.received_at);
      const webhook = { ...webhookOf(input, ingestPathOf(source)), sourceId: id, address: addressOf(source) };
      return explainWebhook(service, webhook, known, at);
    },
    refusals: { missing: { code: "not_found", message: missingSource } },
    rest: {
      post: "/api/v1/webhooks/sources/:id/verify",
      maxBytes: verifyBytesMax,
      responses: { 200: ExplanationResource },
      answer: (explanation) => ok(explanation),
    },
  });
  return edgesOf({ verifyWebhook }, { exampleIds: { id: webhookSourceExample.id } });
}

function webhookOf({ headers, body = "", body_base64: base64, url }: z.output<typeof VerifyBody>, path: string) {
  return {
    method: "POST",
    url: url ?? path,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.trim()])),
    body: base64 === undefined ? Buffer.from(body) : Buffer.from(base64, "base64"),
  };
}

const reasons: Readonly<Record<string, readonly [step: string, expected: string]>> = {
  coding_not_supported: ["decode", "The Content-Encoding gzip, deflate or br, or none."],
  decoded_body_too_large: ["decode", "A body within the limit, after decoding too."],
  secret_unusable: ["signature", "A secret in the form of the scheme. Give the source a new one."],
  signature_missing: ["signature", "The header with the signature."],
  signature_malformed: ["signature", "A signature in the form and encoding of the scheme."],
  signature_mismatch: ["signature", "A signature over exactly these bytes, made with a secret of the source."],
  signed_header_missing: ["signature", "Every header that the signature covers."],
  signed_query_missing: ["signature", "Every parameter of the query that the signature covers, once."],
  header_repeated: ["signature", "Each header of the signature once."],
  token_missing: ["signature", "The token, in the header or member that the source names."],
  token_malformed: ["signature", "A token in the form of the scheme."],
  token_mismatch: ["signature", "The token that the source has."],
  key_unknown: ["signature", "A key of the sender's JWKS: the one with the token's kid, fit for its alg."],
  keys_unreachable: [
    "signature",
    "The sender's JWKS, which cannot be read now. Check that the address is right and public.",
  ],
  certificate_not_allowed: [
    "signature",
    "A certificate, and a URL to confirm, at an address of certificate_urls; a chain to the source's root.",
  ],
  certificate_unusable: ["signature", "A certificate, or a chain of three, that exists and is valid now."],
  claim_mismatch: ["signature", "Every claim of required_claims with its text."],
  issuer_mismatch: ["signature", "An iss equal to the issuer of the source."],
  audience_mismatch: ["signature", "An aud that contains the audience of the source."],
  body_digest_mismatch: ["signature", "The SHA-256 of exactly these bytes in the claim that the source names."],
  delivery_id_missing: ["signature", "The id of the delivery, which the signature covers."],
  timestamp_missing: ["time", "The signed time."],
  timestamp_malformed: ["time", "A signed time in the unit of the scheme."],
  timestamp_too_old: ["time", "A signed time that is not older than the tolerance of the source."],
  timestamp_in_future: ["time", "A signed time that is not further ahead than the tolerance of the source."],
  body_too_large: ["size", "A body within max_body_bytes of the source."],
  paused: ["source", "A source that is not paused."],
  blocked: ["source", "An account that is active."],
  body_malformed: ["decode", "A body in the Content-Encoding that it names."],
};

/** Explains the outcome of a webhook that arrives at a time. Nothing is stored or counted. */
async function explainWebhook(service: IngestService, webhook: PostedWebhook, known: CachedSource, at: Date) {
  const headersRead = new Set<string>();
  const readable = { ...webhook, headers: observed(webhook.headers, headersRead) };
  const judgement = await judgePosted(service, readable, known, at);
  const nothing = { reason: null, step: null, expected: null, hints: [], delivery_id: null, event_type: null };
  const common = { ...nothing, headers_read: [...headersRead].sort() };
  if (judgement.outcome === "accepted") {
    const { deliveryId, eventType } = judgement.webhook;
    return { ...common, outcome: "accepted", delivery_id: deliveryId.value, event_type: eventType?.value ?? null };
  }
  if (judgement.outcome === "filtered") {
    const found = { reason: "event_type_not_accepted", step: "event_type", event_type: judgement.eventType };
    return { ...common, outcome: "filtered", ...found, expected: "A type that event_types of the source accepts." };
  }
  if (!("reason" in judgement))
    return { ...common, outcome: judgement.outcome === "dropped" ? "dropped" : "challenged" };
  const { reason } = judgement;
  const [step, expected] = reasons[reason] ?? ["signature", null];
  const hints = await hintsOf(service, webhook, known, at, reason);
  return { ...common, outcome: "refused", reason, step, expected, hints };
}

/** Changes that senders and proxies make to a body: the hint where undoing one makes the body verify. */
const repairs: readonly [hint: string, repair: (text: string) => string][] = [
  ["It would verify without the line break at its end.", (text) => text.replace(/\r?\n$/, "")],
  ["It would verify with a line break at its end.", (text) => `${text}\n`],
  ["It would verify with line feeds alone: its line breaks were changed.", (text) => text.replaceAll("\r\n", "\n")],
  ["It would verify as compact JSON: the body was serialized again.", (text) => JSON.stringify(JSON.parse(text))],
  [
    "It would verify as indented JSON: the body was serialized again.",
    (text) => JSON.stringify(JSON.parse(text), null, 2),
  ],
];
const anyTime = Number.MAX_SAFE_INTEGER;

async function hintsOf(service: IngestService, webhook: PostedWebhook, known: CachedSource, at: Date, reason: string) {
  const { source, secrets } = known;
  const timeless = { ...known, source: { ...source, settings: { ...source.settings, toleranceSeconds: anyTime } } };
  const verifies = async (tried: PostedWebhook, by: CachedSource): Promise<boolean> => {
    const judgement = await judgePosted(service, tried, by, at);
    return !("reason" in judgement) || reasons[judgement.reason]?.[0] !== "signature";
  };
  if (reason === "timestamp_too_old" || reason === "timestamp_in_future") {
    return (await verifies(webhook, timeless)) ? ["The signature itself is right."] : ["The signature is wrong, too."];
  }
  if (reason !== "signature_mismatch") return [];
  const hints = [];
  for (const [hint, repair] of repairs) {
    const body = repaired(webhook.body, repair);
    if (body && !body.equals(webhook.body) && (await verifies({ ...webhook, body }, timeless))) hints.push(hint);
  }
  const ended = secrets.former.map((secret) => ({ ...secret, endsAt: null }));
  if (await verifies(webhook, { ...timeless, secrets: { ...secrets, former: ended } })) {
    hints.push("It is signed with a secret whose overlap has ended.");
  }
  return hints;
}

function repaired(body: Buffer, repair: (text: string) => string): Buffer | null {
  try {
    return Buffer.from(repair(body.toString("utf8")));
  } catch {
    return null;
  }
}
