import { AppError } from "@signalbox/core";
import type { OutboundClient } from "@signalbox/net";
import {
  type DeliveryIdPlace,
  type Handshake,
  type SchemeName,
  type SchemeOptions,
  schemeOf,
} from "@signalbox/webhook-signatures";
import { z } from "zod";
import { settingMembers, settingsOfSchemes } from "./setting-members.ts";

/** Settings of a source about its sender. */
export type SourceSettings = Partial<SchemeOptions & SenderSettings>;

/** Settings of every scheme. */
interface SenderSettings {
  /** Place of the delivery id, instead of the scheme's own. */
  readonly deliveryIdFrom: DeliveryIdPlace;
  /** Place of the event type, instead of the scheme's own. */
  readonly eventTypeFrom: Exclude<DeliveryIdPlace, "digest">;
  /** Headers that the event carries besides those of the scheme, in lower case. */
  readonly forwardedHeaders: readonly string[];
  /** Webhooks accepted per second. */
  readonly rate: number;
  /**
   * Time for which received content is a repetition under any id and type, where the sender signs neither id nor time.
   */
  readonly refuseSameContentSeconds: number;
  /** Bytes that the signature covers: as they came, or decoded from their `Content-Encoding`. */
  readonly signatureOver: "wire" | "decoded";
  /** Largest difference between a signed time and ours, both ways, instead of `webhook-ingest.tolerance`. */
  readonly toleranceSeconds: number;
  /** Largest body, below `limits.maxWebhookBytes`. */
  readonly maxBodyBytes: number;
  /** Answer that the sender expects to an accepted webhook. */
  readonly answer: CustomAnswer;
  /** URL that the sender uses, which some senders sign. */
  readonly publicUrl: string;
  /** Kind of the sender's verification request. */
  readonly handshake: Handshake;
  /** True when refused webhooks are kept, so that they can be read and retried. */
  readonly keepRejectedBodies: boolean;
}

export interface CustomAnswer {
  readonly status: 200 | 202 | 204;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const names = Object.keys(settingMembers).map((name) => [camelCase(name) as keyof SourceSettings, name] as const);
/** Settings that may be null. Null resets any other to its default. */
const nullable: ReadonlySet<string> = new Set(
  names
    .filter(([, name]) => settingMembers[name as keyof typeof settingMembers].safeParse(null).success)
    .map(([key]) => key),
);

const meaning = "Differences of the sender from its scheme. A setting of another scheme is refused.";

export const SettingsBody = z.strictObject(settingMembers).partial().transform(fromWire).describe(meaning);

/** A merge patch (RFC 7396): a null member goes back to the default, unless it may be null. */
export const SettingsPatchBody = z
  .strictObject(mapValues(settingMembers, (member) => member.nullable()))
  .partial()
  .transform(fromWire)
  .describe(`${meaning} An absent member keeps its value; null restores the default.`);

export type SettingsPatch = { readonly [K in keyof SourceSettings]?: SourceSettings[K] | null };

/** Returns the settings after a patch. */
export function mergeSettings(current: SourceSettings, patch: SettingsPatch): SourceSettings {
  const merged = { ...current, ...patch };
  const kept = names.filter(([key]) => {
    const value = merged[key];
    return value !== undefined && (value !== null || nullable.has(key));
  });
  return Object.fromEntries(kept.map(([key]) => [key, merged[key]]));
}

/** Returns the settings under their names in the API. */
export function viewSourceSettings(settings: SourceSettings): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap(([key, name]) => {
      const value = settings[key];
      return value === undefined ? [] : [[name, renamed(value, snakeCase)]];
    }),
  );
}

export type AssertUsable = ReturnType<typeof createAssertUsable>;

/**
 * Creates the check that refuses settings and a secret that the scheme cannot use.
 * @throws AppError `validation_error` with each problem
 */
export function createAssertUsable({ check }: Pick<OutboundClient, "check">) {
  return function assertUsable(scheme: SchemeName, settings: SourceSettings, secret: string | undefined): void {
    assertSettingsFit(scheme, settings);
    if (secret === undefined) return;
    const { secretProblem, keysAt } = schemeOf(scheme, settings);
    const keysUrl = keysAt?.(secret) ?? null;
    const isRefused =
      keysUrl !== null && secretProblem(secret) === null && check(keysUrl, { requireHttps: true }) !== null;
    const problem = isRefused ? "The address of the JWKS must be public, and https." : secretProblem(secret);
    if (problem === null) return;
    throw new AppError("validation_error", "The secret does not fit the scheme.", {
      details: [{ field: "secret", code: "invalid_secret", message: problem }],
    });
  };
}

/**
 * Refuses settings of another scheme, which would have no effect.
 * @throws AppError with each problem
 */
function assertSettingsFit(scheme: SchemeName, settings: SourceSettings): void {
  const own = settingsOfSchemes[scheme];
  const foreign = names.filter(([key, name]) => key in settings && !own?.has(name) && isOfSomeScheme(name));
  const details = foreign.map(([, name]) => problemOf(name, `The scheme ${scheme} does not have this setting.`));
  if (settings.algorithm === "sha1" && settings.acceptWeak !== true)
    details.push(problemOf("algorithm", "SHA-1 is weak; accept_weak must be true for it."));
  if (scheme === "jwt") details.push(...jwtProblems(settings));
  if (details.length > 0)
    throw new AppError("validation_error", `Some of these settings are not for the scheme ${scheme}.`, { details });
}

/** A sender's keys sign for all its customers: a token must be bound to this source, or to this body. */
function jwtProblems({ issuer, audience, bodyDigestClaim, tokenFormat }: SourceSettings) {
  const problems = [];
  if (tokenFormat === "basic")
    problems.push(problemOf("token_format", "The scheme jwt needs token_format plain or bearer."));
  if (!bodyDigestClaim && !(issuer && audience))
    problems.push(problemOf("audience", "The scheme jwt needs an issuer and an audience, or a body_digest_claim."));
  return problems;
}

const problemOf = (name: string, message: string) => ({
  field: `settings.${name}`,
  code: "not_allowed" as const,
  message,
});
const isOfSomeScheme = (name: string): boolean => Object.values(settingsOfSchemes).some((own) => own?.has(name));

function fromWire<T extends object>(given: T): SourceSettings {
  const values = given as Record<string, unknown>;
  return Object.fromEntries(
    names.flatMap(([key, name]) => (name in values ? [[key, renamed(values[name], camelCase)]] : [])),
  );
}

/** Renames the members of an object. */
function renamed(value: unknown, rename: (name: string) => string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [rename(name), member]));
}

function mapValues<T extends Record<string, z.ZodType>>(
  object: T,
  change: (value: z.ZodType) => z.ZodType,
): { [K in keyof T]: z.ZodType } {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)])) as never;
}
