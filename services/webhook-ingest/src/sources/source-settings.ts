import { AppError, MiB } from "@signalbox/core";
import { type DeliveryIdPlace, type HmacOptions, type SchemeName, schemeOf } from "@signalbox/webhook-signatures";
import { z } from "zod";

/** What a source is told about its sender, in the order that every view shows it. */
export type SourceSettings = Partial<HmacOptions & SenderSettings>;

/** What any scheme can be told. */
interface SenderSettings {
  /** Where the sender says which delivery it is, instead of where its scheme says so. */
  readonly deliveryIdFrom: DeliveryIdPlace;
  /** Headers that the event carries besides those of the scheme, in lower case. */
  readonly forwardedHeaders: readonly string[];
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
  /** Whether what is refused is kept, to be looked at and tried again. */
  readonly keepRejectedBodies: boolean;
}

export interface CustomAnswer {
  readonly status: 200 | 202 | 204;
  readonly body?: string | undefined;
  readonly content_type?: string | undefined;
}

const hmacNames = {
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
const wireNames = {
  ...hmacNames,
  deliveryIdFrom: "delivery_id_from",
  forwardedHeaders: "forwarded_headers",
  refuseSameContentSeconds: "refuse_same_content_seconds",
  signatureOver: "signature_over",
  toleranceSeconds: "tolerance_seconds",
  maxBodyBytes: "max_body_bytes",
  answer: "answer",
  keepRejectedBodies: "keep_rejected_bodies",
} as const satisfies Record<keyof SourceSettings, string>;
const names = Object.entries(wireNames) as [keyof SourceSettings, string][];

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .transform((text) => text.toLowerCase());
/** RFC 6901. */
const jsonPointer = z
  .string()
  .max(256)
  .regex(/^(?:\/(?:[^~/]|~[01])*)+$/);
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
  delivery_id_from: z.union([
    z.literal("digest"),
    z.strictObject({ header: headerName }),
    z.strictObject({ pointer: jsonPointer }),
  ]),
  forwarded_headers: z.array(headerName).max(20),
  refuse_same_content_seconds: z.int().min(0).max(86_400),
  signature_over: z.enum(["wire", "decoded"]),
  tolerance_seconds: z.int().min(30).max(3_600),
  max_body_bytes: z
    .int()
    .min(1)
    .max(1 * MiB),
  answer: z
    .strictObject({
      status: z.union([z.literal(200), z.literal(202), z.literal(204)]),
      body: z.string().max(1_024).optional(),
      content_type: z
        .string()
        .max(128)
        .regex(/^[\w.+-]+\/[\w.+-]+(?:; ?charset=utf-8)?$/)
        .optional(),
    })
    .refine(({ status, body }) => status !== 204 || body === undefined, { path: ["body"], error: "204 has no body." }),
  keep_rejected_bodies: z.boolean(),
};
const meaning =
  "How the sender differs from its scheme. Those from `delivery_id_from` on are for every scheme, the others for `hmac` alone.";

export const SettingsBody = z.strictObject(members).partial().transform(fromWire).describe(meaning);

/** A merge patch (RFC 7396): a member that is null goes back to the default, but `previous_signature_header`, which may be null. */
export const SettingsPatchBody = z
  .strictObject(mapValues(members, (member) => member.nullable()))
  .partial()
  .transform(fromWire)
  .describe(`${meaning} Members that are absent stay; null goes back to the default.`);

export type SettingsPatch = { readonly [K in keyof SourceSettings]?: SourceSettings[K] | null };

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
export function viewSourceSettings(settings: SourceSettings): Record<string, unknown> {
  return Object.fromEntries(
    names.flatMap(([key, name]) => {
      const value = settings[key];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Settings of `hmac` on another scheme would promise something that is not done. @throws AppError naming each */
function assertSettingsFit(scheme: SchemeName, settings: SourceSettings): void {
  if (scheme === "hmac") return;
  const message = "Only the scheme hmac has this setting.";
  const details = names.flatMap(([key, name]) =>
    key in settings && key in hmacNames ? [{ field: `settings.${name}`, code: "not_allowed" as const, message }] : [],
  );
  if (details.length > 0)
    throw new AppError("validation_error", `Some of these settings are not for the scheme ${scheme}.`, { details });
}

/** Refuses settings and a secret that the scheme could do nothing with. @throws AppError `validation_error` on each */
export function assertUsable(scheme: SchemeName, settings: SourceSettings, secret: string | undefined): void {
  assertSettingsFit(scheme, settings);
  if (secret === undefined) return;
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
