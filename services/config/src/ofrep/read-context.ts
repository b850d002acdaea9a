import type { Principal } from "@signalbox/auth";
import { KiB } from "@signalbox/core";
import type { FlagContext } from "@signalbox/service";
import { flagContextOf } from "@signalbox/service";
import { z } from "zod";

/** The OpenFeature code of a fault that prevents an evaluation. */
type ContextFault = "PARSE_ERROR" | "TARGETING_KEY_MISSING" | "INVALID_CONTEXT" | "NOT_ALLOWED";

type Read =
  | { readonly ok: true; readonly context: FlagContext }
  | { readonly ok: false; readonly code: ContextFault; readonly details: string };

const contextBytesMax = 16 * KiB;
const depthMax = 8;

/** The attributes given by a caller who may evaluate for others. */
const Others = z.object({
  roles: z.array(z.string().max(100)).max(100).default([]),
  locale: z.string().max(100).nullish(),
  createdAt: z.iso.datetime({ offset: true }).nullish(),
});

/**
 * Reads the evaluation context. For the caller's own account every attribute comes from the principal: a context chosen
 * by its sender would reveal the flags of others. Callers with `config:admin` may name another account.
 */
export function readContext(body: Buffer, principal: Principal): Read {
  const request = parsed(body);
  if (!isObject(request)) return fault("PARSE_ERROR", "The body must be a JSON object.");
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
  if (targetingKey === principal.accountId) return { ok: true, context: flagContextOf(principal) };
  if (!principal.scopes.has("config:admin"))
    return fault("NOT_ALLOWED", "targetingKey must be the id of your own account.");
  return contextOfOther(targetingKey, context);
}

function contextOfOther(accountId: string, context: Record<string, unknown>): Read {
  const { data, success } = Others.safeParse(context);
  if (!success) return fault("INVALID_CONTEXT", "roles must be strings, locale a string and createdAt a time.");
  const { roles, locale = null, createdAt } = data;
  return { ok: true, context: { accountId, roles, locale, createdAtMs: createdAt ? Date.parse(createdAt) : null } };
}

const fault = (code: ContextFault, details: string): Read => ({ ok: false, code, details });
const missing = fault("TARGETING_KEY_MISSING", "context.targetingKey must be the id of an account.");

const utf8 = new TextDecoder("utf-8", { fatal: true });

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body));
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((member) => isWithinDepth(member, depth - 1));
}
