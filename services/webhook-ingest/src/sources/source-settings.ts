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

/** What a source is told about its sender. */
export type SourceSettings = Partial<SchemeOptions & SenderSettings>;

/** What any scheme can be told. */
interface SenderSettings {
  /** Where the sender says which delivery it is, instead of where its scheme says so. */
  readonly deliveryIdFrom: DeliveryIdPlace;
  /** Where it says which type the event has. */
  readonly eventTypeFrom: Exclude<DeliveryIdPlace, "digest">;
  /** Headers that the event carries besides those of the scheme, in lower case. */
  readonly forwardedHeaders: readonly string[];
  /** Webhooks a second that are taken. */
  readonly rate: number;
  /** For how long content that was received is a repetition whatever its id, where the sender signs no time. */
  readonly refuseSameContentSeconds: number;
  /** Whether the signature is over the bytes as they came or after their `Content-Encoding` was undone. */
  readonly signatureOver: "wire" | "decoded";
  /** How far a signed time may differ from ours, both ways, instead of `webhook-ingest.tolerance`. */
  readonly toleranceSeconds: number;
  /** Less than `limits.maxWebhookBytes`. */
  readonly maxBodyBytes: number;
  /** What the sender wants to hear when its webhook is taken. */
  readonly answer: CustomAnswer;
  /** The address as the sender has it, which some of them sign. */
  readonly publicUrl: string;
  /** How the sender asks whether the address is ours. */
  readonly handshake: Handshake;
  /** Whether what is refused is kept, to be looked at and tried again. */
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
/** Those that may be null; any other goes back to its default by null. */
const nullable: ReadonlySet<string> = new Set(
  names
    .filter(([, name]) => settingMembers[name as keyof typeof settingMembers].safeParse(null).success)
    .map(([key]) => key),
);

const meaning = "How the sender differs from its scheme. A setting of another scheme is refused.";

export const SettingsBody = z.strictObject(settingMembers).partial().transform(fromWire).describe(meaning);

/** A merge patch (RFC 7396): a member that is null goes back to the default, but one that may be null. */
export const SettingsPatchBody = z
  .strictObject(mapValues(settingMembers, (member) => member.nullable()))
  .partial()
  .transform(fromWire)
  .describe(`${meaning} Members that are absent stay; null goes back to the default.`);

export type SettingsPatch = { readonly [K in keyof SourceSettings]?: SourceSettings[K] | null };

/** The settings after a patch. */
export function mergeSettings(current: SourceSettings, patch: SettingsPatch): SourceSettings {
  const merged = { ...current, ...patch };
  const kept = names.filter(([key]) => {
    const value = merged[key];
    return value !== undefined && (value !== null || nullable.has(key));
  });
  return Object.fromEntries(kept.map(([key]) => [key, merged[key]]));
}

/** The settings as clients see them. */
export function viewSourceSettings(settings: SourceSettings): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap(([key, name]) => {
      const value = settings[key];
      return value === undefined ? [] : [[name, renamed(value, snakeCase)]];
    }),
  );
}

export type AssertUsable = ReturnType<typeof createAssertUsable>;

/** Refuses settings and a secret that the scheme could do nothing with. @throws AppError `validation_error` on each */
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

/** Settings of another scheme would promise something that is not done. @throws AppError naming each */
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

/** A sender's keys sign for all its customers: a token must be for this source, or for this body. */
function jwtProblems({ issuer, audience, bodyDigestClaim, tokenFormat }: SourceSettings) {
  const problems = [];
  if (tokenFormat === "basic") problems.push(problemOf("token_format", "A token of jwt is plain or bearer."));
  if (!bodyDigestClaim && !(issuer && audience))
    problems.push(problemOf("audience", "A source of jwt has an issuer and an audience, or a body_digest_claim."));
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

/** A value with the members of its objects renamed. */
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
