import { hash } from "node:crypto";
import { isClientKey, type Principal } from "@signalbox/auth";
import { examples, timeInput } from "@signalbox/contracts";
import { isAppError, KiB } from "@signalbox/core";
import {
  createRoutes,
  type HttpResponse,
  isNotModified,
  type JsonBody,
  notModified,
  ok,
  parseJsonBody,
  type Routes,
  refused,
  strongEtag,
} from "@signalbox/http";
import { type FlagContext, type FlagEvaluation, type Flags, flagContextOf } from "@signalbox/service";
import { z } from "zod";
import type { ConfigService } from "../context/config-service.ts";
import { countEvaluation } from "../flags/flag-statistics.ts";

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
    errorCode: z.string().describe("A stable OFREP code; branch on this."),
    errorDetails: z.string().optional().describe("A message for people; it may change."),
  })
  .meta({ id: "FlagFailure", description: "The reason why a flag was not evaluated, with OpenFeature's error codes." })
  .register(examples, {
    example: { errorCode: "TARGETING_KEY_MISSING", errorDetails: "context.targetingKey must be the id of an account." },
  });

const Question = z
  .object({
    context: z
      .looseObject({
        targetingKey: z.string().min(1).max(256).describe("The subject; the same key gets the same variant."),
      })
      .describe("The evaluation context."),
  })
  .meta({ id: "FlagQuestion", description: "The context of the evaluation." })
  .register(examples, { example: { context: { targetingKey: "acc_5Yb0cPq7TnV2sKxW9mRdLh" } } });

const body = { raw: { maxBytes: bodyBytesMax, json: Question } } as const;
const auth = { scopes: [], access: "read", client: true } as const;
const audit = { unaudited: "An evaluation changes nothing." } as const;
const cache = "private, no-cache";
/** The framework sends this with every GET; a POST with a validator is cached by its sender, too. */
const varying = { vary: "Accept, Authorization, X-API-Key" };

/** The routes of the OpenFeature Remote Evaluation Protocol 0.3. */
export function ofrepRoutes(service: ConfigService): Routes {
  const { flags, clock } = service;
  const { set } = flags;
  const isSeen = (principal: Principal, key: string) => !isClientKey(principal) || set.isForClients(key);
  const routes = createRoutes({ errors: "configuration" });
  routes.post("/ofrep/v1/evaluate/flags/:key", {
    operationId: "evaluateFlag",
    summary: "Evaluate a flag",
    description:
      "OFREP 0.3. The targeting key is your own account; callers with config:admin may name any account, and client keys any subject. Client keys only see flags marked `client`.",
    auth,
    audit,
    body,
    cache,
    responses: { 200: FlagAnswer, 400: Failure, 404: Failure },
    exampleIds: { key: "checkout.new" },
    handle: ({ principal, params: { key }, body: given }) =>
      evaluateFor(given, principal, { key }, (context) => {
        const evaluation = set.evaluate(key, context, clock.nowMs());
        if (evaluation.variant === null || !isSeen(principal, key))
          return failed(404, "FLAG_NOT_FOUND", "There is no such flag.", { key });
        countEvaluation(service, key, evaluation.variant);
        return ok(viewOf(evaluation));
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
      flagConfigEtag: z.string().max(200).optional().describe("Content of a stream event; ignored."),
      flagConfigLastModified: z.string().max(200).optional().describe("Content of an event; ignored."),
    }),
    responses: { 200: BulkAnswer, 304: "empty", 400: Failure },
    handle: ({ principal, headers, body: given }) =>
      evaluateFor(given, principal, {}, (context) => {
        const etag = bulkEtag(set, context, clock.nowMs(), isClientKey(principal));
        if (isNotModified({ headers }, etag)) return notModified(etag, { cache, headers: varying });
        const all = set
          .evaluateAll(context, clock.nowMs())
          .filter(({ key, variant }) => variant !== null && isSeen(principal, key));
        for (const { key, variant } of all) if (variant !== null) countEvaluation(service, key, variant);
        // The stream of changes does not admit client keys.
        const announced = isClientKey(principal) ? {} : streams(service);
        return ok({ flags: all.map(viewOf), ...announced }, { etag, cache, headers: varying });
      }),
  });
  return routes;
}

/**
 * Computes a validator that changes with the flags, with time where only time changes them, and with the attributes of
 * the account and those of the sender that a rule reads.
 */
function bulkEtag(set: Flags["set"], context: FlagContext, nowMs: number, isOfClient: boolean): string {
  const { accountId, roles, locale, createdAtMs } = context;
  const read = [accountId, roles, locale, createdAtMs, set.attributesRead(context), isOfClient];
  const digest = hash("sha256", JSON.stringify(read), "base64url");
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
  if ("context" in read) return evaluate(read.context);
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

const viewOf = ({ key, json: value, variant, reason }: FlagEvaluation) => ({ key, value, variant, reason });

/** The OpenFeature code of a fault that prevents an evaluation. */
type ContextFault = "PARSE_ERROR" | "TARGETING_KEY_MISSING" | "INVALID_CONTEXT" | "NOT_ALLOWED";

type Read = { readonly context: FlagContext } | { readonly code: ContextFault; readonly details: string };

const contextBytesMax = 16 * KiB;
const depthMax = 8;

/** The attributes given by a caller who may evaluate for others. */
const Others = z.object({
  roles: z.array(z.string().max(100)).max(100).default([]),
  locale: z.string().max(100).nullish(),
  createdAt: timeInput.nullish(),
});

/**
 * Reads the evaluation context. The account, its roles, its locale and its age come from the principal: chosen by the
 * sender they would reveal the flags of others. Every other member is an attribute of the sender's own. Callers with
 * `config:admin` may name another account.
 */
function readContext(body: Buffer, principal: Principal): Read {
  const { value: request, flaws } = parsed(body);
  if (!isObject(request)) return fault("PARSE_ERROR", flaws[0]?.message ?? "The body must be a JSON object.");
  if (flaws[0]) return fault("INVALID_CONTEXT", `${flaws[0].field}: ${flaws[0].message}`);
  const { context } = request;
  if (context === undefined || context === null) return missing;
  if (!isObject(context)) return fault("INVALID_CONTEXT", "context must be an object.");
  if (!isWithinDepth(context, depthMax))
    return fault("INVALID_CONTEXT", `context may be at most ${depthMax} levels deep.`);
  if (body.byteLength > contextBytesMax && Buffer.byteLength(JSON.stringify(context)) > contextBytesMax) {
    return fault("INVALID_CONTEXT", `context may have at most ${contextBytesMax} bytes.`);
  }
  const { targetingKey } = context;
  if (targetingKey === undefined || targetingKey === null || targetingKey === "") return missing;
  if (typeof targetingKey !== "string" || targetingKey.length > 256 || !targetingKey.isWellFormed()) {
    return fault("INVALID_CONTEXT", "targetingKey must be the id of an account.");
  }
  // The account is the key's own whatever a browser names: its targeting key is a user of the app.
  if (targetingKey === principal.accountId || isClientKey(principal))
    return { context: flagContextOf(principal, context) };
  if (!principal.scopes.has("config:admin"))
    return fault("NOT_ALLOWED", "targetingKey must be the id of your own account.");
  return contextOfOther(targetingKey, context);
}

function contextOfOther(accountId: string, context: Record<string, unknown>): Read {
  const { data, success } = Others.safeParse(context);
  if (!success) return fault("INVALID_CONTEXT", "roles must be strings, locale a string and createdAt a time.");
  const { roles, locale = null, createdAt } = data;
  return {
    context: { accountId, roles, locale, createdAtMs: createdAt ? Date.parse(createdAt) : null, attributes: context },
  };
}

const fault = (code: ContextFault, details: string): Read => ({ code, details });
const missing = fault("TARGETING_KEY_MISSING", "context.targetingKey must be the id of an account.");

/** Parses the body by the rules of all JSON routes; a refusal is a flaw without a value. */
function parsed(body: Buffer): JsonBody {
  try {
    return parseJsonBody(body);
  } catch (error) {
    if (!isAppError(error)) throw error;
    return { value: undefined, flaws: [{ field: "", code: "invalid", message: error.message }] };
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithinDepth(member, depth - 1));
}
