import { MiB } from "@signalbox/core";
import { type DeliveryIdPlace, handshakes, parseSignedContent } from "@signalbox/webhook-signatures";
import { z } from "zod";

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .transform((text) => text.toLowerCase());
/** RFC 6901. */
const jsonPointer = z
  .string()
  .max(256)
  .regex(/^(?:\/(?:[^~/]|~[01])*)+$/);
const inHeader = z.strictObject({ header: headerName });
const atPointer = z.strictObject({ pointer: jsonPointer });
const pairKey = z.string().regex(/^[\w-]{1,32}$/);
const placeOfId = z.union([z.literal("digest"), inHeader, atPointer]) satisfies z.ZodType<DeliveryIdPlace>;

const signedContent = z
  .string()
  .max(256)
  .superRefine((template, { addIssue }) => {
    const parsed = parseSignedContent(template);
    if (typeof parsed === "string") addIssue({ code: "custom", message: parsed });
  })
  .describe(
    "Template of the signed text, with {timestamp}, {id}, {body}, {method}, {url} and {header:name}. {body} is required.",
  );

/** Settings of senders that sign a text made of parts of the request. */
const templateMembers = {
  signed_content: signedContent,
  encoding: z.enum(["hex", "base64", "base64url"]).describe("Encoding of a signature."),
  secret_encoding: z.enum(["utf8", "hex", "base64"]).describe("Encoding of the key's bytes in the secret."),
  time_unit: z.enum(["s", "ms", "rfc3339"]).describe("Unit of the signed time."),
  pairs: z
    .strictObject({
      time_key: pairKey.nullable().default(null),
      signature_key: pairKey,
      separator: z.enum([",", ";", " ", "&"]).default(","),
    })
    .nullable()
    .describe("Names of the members of a signature header such as `t=…,v1=…`."),
  signature_header: headerName,
  previous_signature_header: headerName.nullable(),
  signature_prefix: z.string().max(32).describe("Prefix of each signature in its header."),
  signature_separator: z
    .enum([",", ";", " "])
    .nullable()
    .describe("Separator of several signatures in one header; null when there is only one."),
  timestamp_header: headerName,
  timestamp_from: atPointer
    .nullable()
    .describe("Place of the signed time in the body, for senders that write it there."),
  delivery_id_header: headerName,
  event_type_header: headerName,
};
const hmacMembers = {
  algorithm: z.enum(["sha256", "sha512", "sha1"]).describe("sha1 needs `accept_weak`."),
  accept_weak: z.boolean(),
};
const tokenMembers = {
  token_from: atPointer
    .nullable()
    .describe(
      "Place of the token in the body; every item of a list on the way must hold it. Headers then do not count.",
    ),
};
const shownTokenMembers = {
  token_header: headerName,
  token_format: z
    .enum(["plain", "bearer", "basic"])
    .describe(
      "`plain`: the header is the secret; `bearer`: the secret follows `Bearer`; `basic`: the secret is `user:password`.",
    ),
};
const claimName = z.string().min(1).max(256);
const jwtMembers = {
  issuer: claimName.nullable().describe("Required `iss` of the sender's tokens."),
  audience: claimName.nullable().describe("Audience that must be among the `aud` of a token."),
  body_digest_claim: claimName.nullable().describe("Claim with the SHA-256 of the body, if the tokens have one."),
  body_digest_encoding: z.enum(["hex", "base64", "base64url"]).describe("Encoding of that digest."),
};
/** Settings of every scheme. */
const senderMembers = {
  keep_rejected_bodies: z.boolean().describe("Keeps refused webhooks, so that they can be read and retried."),
  delivery_id_from: placeOfId.describe("Place of the delivery id, instead of the scheme's own."),
  event_type_from: z.union([inHeader, atPointer]).describe("Place of the event type, instead of the scheme's own."),
  forwarded_headers: z.array(headerName).max(20),
  rate: z.int().min(1).max(10_000).describe("Webhooks accepted per second; more are answered 429."),
  refuse_same_content_seconds: z
    .int()
    .min(0)
    .max(86_400)
    .describe(
      "Time in which the same body counts once, whatever its id and type, where neither id nor time is signed. Default 300; 0 for senders that repeat a body.",
    ),
  signature_over: z.enum(["wire", "decoded"]),
  tolerance_seconds: z.int().min(30).max(3_600),
  max_body_bytes: z
    .int()
    .min(1)
    .max(1 * MiB),
  answer: z
    .strictObject({
      status: z.union([z.literal(200), z.literal(202), z.literal(204)]),
      body: z
        .string()
        .max(1_024)
        .refine((text) => Buffer.byteLength(text) <= 1_024, "The body has at most 1,024 bytes.")
        .optional(),
      content_type: z
        .string()
        .max(128)
        .regex(/^[\w.+-]+\/[\w.+-]+(?:; ?charset=utf-8)?$/)
        .optional(),
    })
    .refine(({ status, body }) => status !== 204 || body === undefined, { path: ["body"], error: "204 has no body." }),
  public_url: z
    .url({ protocol: /^https?$/ })
    .max(2_048)
    .describe("URL that the sender signs, if it differs from `http.base-url` with the source's path."),
  handshake: z.enum(handshakes).describe("Kind of the sender's verification request."),
};

/** Settings of a source by their names in the API, in the order of every view. */
export const settingMembers = {
  ...hmacMembers,
  ...templateMembers,
  ...shownTokenMembers,
  ...tokenMembers,
  ...jwtMembers,
  ...senderMembers,
};

const names = (...objects: object[]): ReadonlySet<string> => new Set(objects.flatMap(Object.keys));

/** Settings that belong to certain schemes; all others belong to every scheme. */
export const settingsOfSchemes: Readonly<Partial<Record<string, ReadonlySet<string>>>> = {
  hmac: names(hmacMembers, templateMembers),
  ed25519: names(templateMembers),
  token: names(shownTokenMembers, tokenMembers),
  jwt: names(shownTokenMembers, jwtMembers),
};
