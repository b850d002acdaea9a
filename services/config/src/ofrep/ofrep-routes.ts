import { createHash } from "node:crypto";
import type { Principal } from "@signalbox/auth";
import { examples } from "@signalbox/contracts";
import { KiB } from "@signalbox/core";
import {
  createRoutes,
  type HttpResponse,
  isNotModified,
  notModified,
  ok,
  type Routes,
  refused,
  strongEtag,
} from "@signalbox/http";
import type { FlagContext, FlagEvaluation, Flags } from "@signalbox/service";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { readContext } from "./read-context.ts";

/** Larger than the limit of a context, so that a too large one gets a specific error. */
const bodyBytesMax = 64 * KiB;

const FlagAnswer = z
  .object({
    key: z.string().describe("The key of the flag."),
    value: z.unknown().describe("The value for this context."),
    variant: z.string().describe("The name of the variant that was chosen."),
    reason: z.string().describe("STATIC, DEFAULT, TARGETING_MATCH, SPLIT, DISABLED or PREREQUISITE_FAILED."),
  })
  .meta({ id: "FlagEvaluation", description: "The evaluation of a flag for the account." })
  .register(examples, { example: { key: "checkout.new", value: true, variant: "on", reason: "SPLIT" } });

const BulkAnswer = z
  .object({
    flags: z.array(FlagAnswer).describe("The evaluations of all flags."),
    eventStreams: z
      .array(
        z.object({
          type: z.literal("sse").describe("The kind of stream."),
          url: z.string().describe("The URL of the stream."),
          inactivityDelaySec: z.int().describe("Seconds without activity after which a client may close the stream."),
        }),
      )
      .optional()
      .describe("The streams that announce changes of flags."),
  })
  .meta({ id: "FlagEvaluations", description: "The evaluations of every flag for the account." })
  .register(examples, {
    example: {
      flags: [{ key: "checkout.new", value: true, variant: "on", reason: "SPLIT" }],
      eventStreams: [{ type: "sse", url: "https://signalbox.example/api/v1/config/stream", inactivityDelaySec: 120 }],
    },
  });

const Failure = z
  .object({
    key: z.string().optional().describe("The key of the flag."),
    errorCode: z.string().describe("A stable code of OFREP; branch on this."),
    errorDetails: z.string().optional().describe("An explanation for people; it may change."),
  })
  .meta({ id: "FlagFailure", description: "The reason why a flag was not evaluated, with OpenFeature's error codes." })
  .register(examples, {
    example: { errorCode: "TARGETING_KEY_MISSING", errorDetails: "context.targetingKey must be the id of an account." },
  });

const Question = z
  .object({
    context: z
      .looseObject({
        targetingKey: z
          .string()
          .min(1)
          .max(256)
          .describe("The subject of the evaluation; the same key gets the same variant."),
      })
      .describe("The evaluation context."),
  })
  .meta({ id: "FlagQuestion", description: "The context of the evaluation." })
  .register(examples, { example: { context: { targetingKey: "acc_5Yb0cPq7TnV2sKxW9mRdLh" } } });

const body = { raw: { maxBytes: bodyBytesMax, json: Question } } as const;
const auth = { scopes: [], access: "read" } as const;
const audit = { unaudited: "An evaluation only reads." } as const;
const cache = "private, no-cache";
/** The framework sends this with every GET; a POST with a validator is cached by its sender, too. */
const varying = { vary: "Accept, Authorization, X-API-Key" };

/** The routes of the OpenFeature Remote Evaluation Protocol 0.3. */
export function ofrepRoutes(service: ConfigService): Routes {
  const {
    flags: { set },
    clock,
  } = service;
  const routes = createRoutes({ errors: "configuration" });
  routes.post("/ofrep/v1/evaluate/flags/:key", {
    operationId: "evaluateFlag",
    summary: "Evaluate a flag",
    description: "OFREP 0.3. The targeting key is your own account; callers with config:admin may name another one.",
    auth,
    audit,
    body,
    cache,
    responses: { 200: FlagAnswer, 400: Failure, 404: Failure },
    exampleIds: { key: "checkout.new" },
    handle: ({ principal, params: { key }, body: given }) =>
      evaluateFor(given, principal, { key }, (context) => {
        const evaluation = set.evaluate(key, context, clock.nowMs());
        return evaluation.variant === null
          ? failed(404, "FLAG_NOT_FOUND", "There is no such flag.", { key })
          : ok(viewOf(evaluation));
      }),
  });

  routes.post("/ofrep/v1/evaluate/flags", {
    operationId: "evaluateFlags",
    summary: "Evaluate every flag",
    description: "OFREP 0.3. A matching If-None-Match answers 304 without an evaluation.",
    auth,
    audit,
    body,
    cache,
    query: z.object({
      flagConfigEtag: z.string().max(200).optional().describe("Content of a stream's event; it is ignored."),
      flagConfigLastModified: z.string().max(200).optional().describe("Content of an event; it is ignored."),
    }),
    responses: { 200: BulkAnswer, 304: "empty", 400: Failure },
    handle: ({ principal, headers, body: given }) =>
      evaluateFor(given, principal, {}, (context) => {
        const etag = bulkEtag(set, context, clock.nowMs());
        if (isNotModified({ headers }, etag)) return notModified(etag, { cache, headers: varying });
        const all = set.evaluateAll(context, clock.nowMs()).filter(({ variant }) => variant !== null);
        return ok({ flags: all.map(viewOf), ...streams(service) }, { etag, cache, headers: varying });
      }),
  });
  return routes;
}

/**
 * Computes a validator that changes with the flags, with time where only time changes them, and with the account's
 * attributes.
 */
function bulkEtag(set: Flags["set"], { accountId, roles, locale, createdAtMs }: FlagContext, nowMs: number): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([accountId, roles, locale, createdAtMs]))
    .digest("base64url");
  return strongEtag(`${set.revision}.${set.epochAt(nowMs)}.${digest}`, "flags");
}

function streams({ configuration }: ConfigService) {
  if (!configuration.get("capabilities.configStream")) return {};
  const url = `${configuration.get("http.base-url")}/api/v1/config/stream`;
  return { eventStreams: [{ type: "sse", url, inactivityDelaySec: 120 }] };
}

function evaluateFor(
  body: Buffer,
  principal: Principal,
  of: { readonly key?: string },
  evaluate: (context: FlagContext) => HttpResponse,
): HttpResponse {
  const read = readContext(body, principal);
  if (read.ok) return evaluate(read.context);
  if (read.code === "NOT_ALLOWED") return refused(403, "forbidden", { message: read.details });
  return failed(400, read.code, read.details, of);
}

const failed = (
  status: number,
  errorCode: string,
  errorDetails: string,
  of: { readonly key?: string },
): HttpResponse => ({
  status,
  body: { kind: "json", value: { ...of, errorCode, errorDetails } },
});

const viewOf = ({ key, value, variant, reason }: FlagEvaluation) => ({ key, value, variant, reason });
