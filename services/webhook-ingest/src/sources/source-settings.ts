import { AppError } from "@signalbox/core";
import { type HmacOptions, type SchemeName, schemeOf } from "@signalbox/webhook-signatures";
import { z } from "zod";

/** What the scheme `hmac` is told about its sender, in the order that every view shows it. */
export type SourceSettings = Partial<HmacOptions>;

const wireNames = {
  algorithm: "algorithm",
  encoding: "encoding",
  time: "time",
  separator: "separator",
  signatureHeader: "signature_header",
  previousSignatureHeader: "previous_signature_header",
  signaturePrefix: "signature_prefix",
  timestampHeader: "timestamp_header",
  deliveryIdHeader: "delivery_id_header",
  eventTypeHeader: "event_type_header",
} as const satisfies Record<keyof HmacOptions, string>;
const names = Object.entries(wireNames) as [keyof HmacOptions, string][];

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .transform((text) => text.toLowerCase());
const members = {
  algorithm: z.enum(["sha256", "sha512"]),
  encoding: z.enum(["hex", "base64"]),
  time: z.enum(["header", "pairs", "none"]),
  separator: z.string().max(8),
  signature_header: headerName,
  previous_signature_header: headerName.nullable(),
  signature_prefix: z.string().max(32),
  timestamp_header: headerName,
  delivery_id_header: headerName,
  event_type_header: headerName,
};
const meaning = "How the sender differs from the specification's own headers; for the scheme `hmac` alone.";

export const SettingsBody = z.strictObject(members).partial().transform(fromWire).describe(meaning);

/** A merge patch (RFC 7396): a member that is null goes back to the default, but `previous_signature_header`, which may be null. */
export const SettingsPatchBody = z
  .strictObject(mapValues(members, (member) => member.nullable()))
  .partial()
  .transform(fromWire)
  .describe(`${meaning} Members that are absent stay; null goes back to the default.`);

export type SettingsPatch = { readonly [K in keyof HmacOptions]?: HmacOptions[K] | null };

/** The settings after a patch. */
export function mergeSettings(current: SourceSettings, patch: SettingsPatch): SourceSettings {
  const merged = { ...current, ...patch };
  const kept = names.filter(([key]) => {
    const value = merged[key];
    return value !== undefined && (value !== null || key === "previousSignatureHeader");
  });
  return Object.fromEntries(kept.map(([key]) => [key, merged[key]]));
}

/** The settings as clients see them. */
export function viewSourceSettings(settings: SourceSettings): Record<string, string | null> {
  return Object.fromEntries(
    names.flatMap(([key, name]) => {
      const value = settings[key];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Settings belong to the scheme `hmac`: on another one they would promise something that is not done. @throws AppError */
export function assertSettingsFit(scheme: SchemeName, settings: SourceSettings): void {
  if (scheme === "hmac" || Object.keys(settings).length === 0) return;
  throw new AppError("validation_error", `The scheme ${scheme} has no settings.`, {
    details: [{ field: "settings", code: "not_allowed", message: "Only the scheme hmac has settings." }],
  });
}

/** Refuses a secret that the scheme could not verify with. @throws AppError `validation_error` on `secret` */
export function assertUsableSecret(scheme: SchemeName, settings: SourceSettings, secret: string): void {
  const problem = schemeOf(scheme, settings).secretProblem(secret);
  if (problem === null) return;
  throw new AppError("validation_error", "The secret does not fit the scheme.", {
    details: [{ field: "secret", code: "invalid_secret", message: problem }],
  });
}

function fromWire<T extends object>(given: T): SourceSettings {
  const values = given as Record<string, unknown>;
  return Object.fromEntries(names.flatMap(([key, name]) => (name in values ? [[key, values[name]]] : [])));
}

function mapValues<T extends Record<string, z.ZodType>>(
  object: T,
  change: (value: z.ZodType) => z.ZodType,
): { [K in keyof T]: z.ZodType } {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)])) as never;
}
