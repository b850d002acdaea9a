import { camelCase, MiB, masked } from "@signalbox/core";
import { toWire } from "@signalbox/http";
import {
  type DeliveryIdPlace,
  handshakes,
  parseSignedContent,
  type SchemeName,
  type SchemeOptions,
} from "@signalbox/webhook-signatures";
import { z } from "zod";
import { CustomAnswerBody } from "./custom-answer.ts";

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .transform((text) => text.toLowerCase());
/** RFC 6901. */
const jsonPointer = z
  .string()
  .max(256)
  .regex(/^(?:\/(?:[^~/]|~[01])*)+$/);
const inHeader = z.strictObject({ header: headerName.describe("The name of the header.") });
const atPointer = z.strictObject({ pointer: jsonPointer.describe("The JSON Pointer of the value in the body.") });
const place = z.union([inHeader, atPointer]);
const inQuery = z.strictObject({
  query: z
    .string()
    .regex(/^[\w.-]{1,64}$/)
    .describe("The name of the parameter of the query."),
});
const whole = (min: number, max: number) => z.int().min(min).max(max);
const pairKey = z.string().regex(/^[\w-]{1,32}$/);
const placeOfId = z.union([z.literal("digest"), inHeader, atPointer]) satisfies z.ZodType<DeliveryIdPlace>;

const signedContent = z
  .string()
  .max(1_024)
  .superRefine((template, { addIssue }) => {
    const parsed = parseSignedContent(template);
    if (typeof parsed === "string") addIssue({ code: "custom", message: parsed });
  })
  .describe(
    "Template of the signed text, with {timestamp}, {id}, {body}, {method}, {url}, {form}, {crc32}, {secret}, {header:name}, " +
      "{query:name}, {query-lower:name}, {body:/pointer} and {line:name}. Without {body} or {form} it needs `accept_weak`.",
  );

/** Settings of senders that sign a text made of parts of the request. */
const templateMembers = {
  signed_content: signedContent,
  encoding: z.enum(["hex", "base64", "base64url"]).describe("Encoding of a signature."),
  secret_encoding: z.enum(["utf8", "hex", "base64"]).describe("Encoding of the key's bytes in the secret."),
  time_unit: z
    .enum(["s", "ms", "s-or-ms", "rfc3339"])
    .describe("Unit of the signed time; `s-or-ms` for a sender that writes one or the other."),
  pairs: z
    .strictObject({
      time_key: pairKey.nullable().default(null).describe("The key of the signed time; null where no time is signed."),
      signature_key: pairKey.describe("The key of a signature."),
      separator: z.enum([",", ";", " ", "&"]).default(",").describe("The character between the pairs of the header."),
    })
    .nullable()
    .describe("Names of the members of a signature header such as `t=…,v1=…`."),
  signature_header: headerName.describe("The header with the signature."),
  previous_signature_header: headerName
    .nullable()
    .describe("The header with the signature of the secret before the last rotation."),
  signature_from: atPointer
    .nullable()
    .describe("Place of the only signature in the body, for senders that write it there."),
  signature_prefix: z.string().max(32).describe("Prefix of each signature in its header."),
  signature_separator: z
    .enum([",", ";", " "])
    .nullable()
    .describe("Separator of several signatures in one header; null when there is only one."),
  timestamp_header: headerName.describe("The header with the signed time."),
  timestamp_from: atPointer
    .nullable()
    .describe("Place of the signed time in the body, for senders that write it there."),
  delivery_id_header: headerName.describe("The header with the id of the delivery."),
  event_type_header: headerName.describe("The header with the type of the event."),
};
const hmacMembers = {
  algorithm: z.enum(["sha256", "sha512", "sha1"]).describe("sha1 needs `accept_weak`."),
  accept_weak: z.boolean().describe("True accepts a weak algorithm, and a signature that does not cover the body."),
};
const certificateUrl = z
  .string()
  .max(512)
  .regex(
    /^https?:\/\/(?:(?:[a-z0-9-]+|\*)\.)*[a-z0-9-]+\.[a-z0-9-]+(?:\.[a-z0-9-]+)?(?::\d{1,5})?\/[A-Za-z0-9._/*-]*$/,
    "An https URL without a query, in which * stands for a label of the host or a part of a segment of the path.",
  );
const digestAlgorithm = z.enum(["sha256", "sha512", "sha1"]);
const keyMembers = {
  other_algorithm: digestAlgorithm
    .nullable()
    .describe("Another algorithm that a signature may have, for senders with two versions; sha1 needs `accept_weak`."),
  key_format: z
    .enum(["raw", "spki", "certificate"])
    .describe(
      "`raw`: an Ed25519 key of 32 bytes; `spki`: a public key in PEM or as base 64 of its DER; `certificate`: the request names a certificate, and the secret is the text of {secret}.",
    ),
  certificate_from: place.nullable().describe("Place of the URL of the sender's certificate in the request."),
  certificate_urls: z
    .array(certificateUrl)
    .max(8)
    .describe(
      "URLs that a certificate is read from; `*` stands for a label of the host or a part of a segment of the path.",
    ),
};
const tokenFromMember = {
  token_from: z
    .union([z.literal("path"), inQuery, atPointer])
    .nullable()
    .describe(
      "Place of the token instead of a header: the body, where every item of a list on the way must hold it; a parameter of the query; or `path`, the segment after the address of the source.",
    ),
};
const tokenMembers = {
  ...tokenFromMember,
  signing_token: z
    .boolean()
    .describe(
      "True verifies the Standard Webhooks signature instead of the token where a secret begins with `whsec_`.",
    ),
};
const shownTokenMembers = {
  token_header: headerName.describe("The header with the token."),
  token_format: z
    .enum(["plain", "bearer", "basic"])
    .describe(
      "`plain`: the header is the secret; `bearer`: the secret follows `Bearer`; `basic`: the secret is `user:password`.",
    ),
};
const claimName = z.string().min(1).max(256);
const jwtMembers = {
  token_key: z
    .enum(["jwks", "secret", "certificates"])
    .describe(
      "`jwks`: the secret is the sender's key set or its address; `secret`: the sender signs with it (HS256); `certificates`: the token brings its chain along (`x5c`), and the secret is the SHA-256 fingerprint of the root.",
    ),
  certificate_oids: z
    .array(z.string().regex(/^[0-2](?:\.\d{1,9}){1,15}$/))
    .max(2)
    .describe("Object identifiers of extensions that the signer's certificate must have and, second, its issuer's."),
  requires_time: z
    .boolean()
    .describe("False takes tokens without `iat` and `exp`, which needs `body_digest_claim` or a token in the body."),
  issuer: claimName.nullable().describe("Required `iss` of the sender's tokens."),
  audience: claimName.nullable().describe("Audience that must be among the `aud` of a token."),
  audience_from: z
    .array(atPointer)
    .max(8)
    .describe("Places of the audience among the claims, for a sender that has it elsewhere than in `aud`."),
  body_digest_claim: claimName.nullable().describe("Claim with the SHA-256 of the body, if the tokens have one."),
  body_digest_encoding: z.enum(["hex", "base64", "base64url"]).describe("Encoding of that digest."),
  required_claims: z
    .array(
      z.strictObject({
        name: claimName.describe("The name of the claim."),
        value: z.string().max(1_024).describe("Its text."),
      }),
    )
    .max(8)
    .describe("Claims with their required texts, such as the `email` of the sender's service account."),
};
/** Settings of every scheme. */
const senderMembers = {
  accept_short_secret: z
    .boolean()
    .describe("True accepts a secret of 6 to 15 bytes, for a sender that has one; the source then shows a warning."),
  accept_get: z
    .boolean()
    .describe(
      "True takes GET as a webhook too, for senders that put the members into the query, which is then the form.",
    ),
  keep_rejected_bodies: z.boolean().describe("Keeps refused webhooks, so that they can be read and retried."),
  delivery_id_from: placeOfId.describe("Place of the delivery id, instead of the scheme's own."),
  event_type_from: z
    .union([inHeader, atPointer, z.array(place).min(1).max(8)])
    .describe("Place of the event type, instead of the scheme's own; of several places the first with a value counts."),
  forwarded_headers: z
    .array(headerName)
    .max(20)
    .describe("Headers of the sender that the event carries, besides those of the scheme."),
  rate: whole(1, 10_000).describe("Webhooks accepted per second; more are answered 429."),
  refuse_same_content_seconds: whole(0, 86_400).describe(
    "Time in which the same body of the same type counts once, whatever its id, where neither id nor time is signed. Default 300; 0 for senders that repeat a body.",
  ),
  repetition_by: z
    .enum(["id", "id_and_content"])
    .describe(
      "What a repetition has in common with an earlier webhook: a signed id, or id and content, for an id that names a subject. Default `id` where the sender signs one, else `id_and_content`.",
    ),
  signature_over: z
    .enum(["wire", "decoded"])
    .describe("The bytes under the signature: as they arrived, or after their content coding was removed."),
  /** Both ways, instead of `webhook-ingest.tolerance`. */
  tolerance_seconds: whole(30, 3_600).describe("The largest distance between the signed time and now, in seconds."),
  /** Below `limits.maxWebhookBytes`. */
  max_body_bytes: whole(1, 1 * MiB).describe("The largest body in bytes."),
  answer: CustomAnswerBody,
  public_url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .describe("URL that the sender signs, if it differs from `http.base-url` with the source's path."),
  handshake: z.enum(handshakes).describe("Kind of the sender's verification request."),
};

/** Settings of a source by their names in the API, in the order of every view. */
const settingMembers = {
  ...hmacMembers,
  ...templateMembers,
  ...keyMembers,
  ...shownTokenMembers,
  ...tokenMembers,
  ...jwtMembers,
  ...senderMembers,
};

const namesOf = (...objects: object[]): ReadonlySet<string> => new Set(objects.flatMap(Object.keys));

/** Settings that belong to certain schemes; all others belong to every scheme. */
const settingsOfSchemes: Readonly<Partial<Record<string, ReadonlySet<string>>>> = {
  hmac: namesOf(hmacMembers, templateMembers),
  ed25519: namesOf(hmacMembers, templateMembers, keyMembers),
  token: namesOf(shownTokenMembers, tokenMembers),
  jwt: namesOf(shownTokenMembers, tokenFromMember, jwtMembers),
};

/** Settings of a source about its sender, by their names in the API in camel case. */
export type SourceSettings = Partial<SchemeOptions & SenderSettings>;

type SenderSettings = {
  readonly [Name in keyof SenderMembers as CamelCase<Name>]: Camel<z.output<SenderMembers[Name]>>;
};

type SenderMembers = typeof senderMembers;
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
/** A value of the API with its names in camel case. */
export type Camel<Value> = Value extends string | number | boolean | null
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Item[]
    : { readonly [Name in keyof Value as CamelCase<Name & string>]: Value[Name] };

export type CustomAnswer = NonNullable<SourceSettings["answer"]>;

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
  .strictObject(Object.fromEntries(Object.entries(settingMembers).map(([name, member]) => [name, member.nullable()])))
  .partial()
  .transform(fromWire)
  .describe(`${meaning} An absent member keeps its value; null restores the default.`);

export type SettingsPatch = { readonly [K in keyof SourceSettings]?: SourceSettings[K] | null };

/** Returns the settings as they may be read: a URL without the password that a sender signs with it. */
export const shownSettings = (settings: SourceSettings): SourceSettings =>
  settings.publicUrl === undefined ? settings : { ...settings, publicUrl: withMaskedUser(settings.publicUrl) };

const withMaskedUser = (url: string): string => url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, `$1${masked}@`);

/** Returns the settings after a patch. A URL that comes back as it was shown stays as it is. */
export function mergeSettings(current: SourceSettings, patch: SettingsPatch): SourceSettings {
  const isUrlAsShown = patch.publicUrl !== undefined && patch.publicUrl === shownSettings(current).publicUrl;
  const merged = { ...current, ...patch, ...(isUrlAsShown && { publicUrl: current.publicUrl }) };
  const kept = names.filter(([key]) => {
    const value = merged[key];
    return value !== undefined && (value !== null || nullable.has(key));
  });
  return Object.fromEntries(kept.map(([key]) => [key, merged[key]]));
}

export function viewSourceSettings(settings: SourceSettings): Record<string, unknown> {
  const shown = shownSettings(settings);
  return Object.fromEntries(
    names.flatMap(([key, name]) => {
      const value = shown[key];
      return value === undefined ? [] : [[name, toWire(value)]];
    }),
  );
}

/** Lists the settings that a source of the scheme may have, by their names in camel case. */
export const settingsOf = (scheme: SchemeName): (keyof SourceSettings)[] =>
  names.flatMap(([key, name]) => (settingsOfSchemes[scheme]?.has(name) || !isOfSomeScheme(name) ? [key] : []));

/** Lists the settings in `given` that only other schemes have, by their names in the API. */
export function foreignSettings(scheme: SchemeName, given: SourceSettings): string[] {
  const own = settingsOfSchemes[scheme];
  return names.flatMap(([key, name]) => (key in given && !own?.has(name) && isOfSomeScheme(name) ? [name] : []));
}

const isOfSomeScheme = (name: string): boolean => Object.values(settingsOfSchemes).some((own) => own?.has(name));

function fromWire<T extends object>(given: T): SourceSettings {
  const values = given as Record<string, unknown>;
  return Object.fromEntries(names.flatMap(([key, name]) => (name in values ? [[key, inCamelCase(values[name])]] : [])));
}

function inCamelCase(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camelCase(name), member]));
}
