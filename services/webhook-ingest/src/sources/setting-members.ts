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
    "What is signed: text with {timestamp}, {id}, {body}, {method}, {url} and {header:name} in it; {body} must be there.",
  );

/** What senders can differ in who sign a text made of parts of the request. */
const templateMembers = {
  signed_content: signedContent,
  encoding: z.enum(["hex", "base64", "base64url"]).describe("How a signature is written."),
  secret_encoding: z.enum(["utf8", "hex", "base64"]).describe("How the secret stands for the bytes of the key."),
  time_unit: z.enum(["s", "ms", "rfc3339"]).describe("How the signed time is written."),
  pairs: z
    .strictObject({
      time_key: pairKey.nullable().default(null),
      signature_key: pairKey,
      separator: z.enum([",", ";", " ", "&"]).default(","),
    })
    .nullable()
    .describe("Where the signature header holds `t=…,v1=…`: how its members are named."),
  signature_header: headerName,
  previous_signature_header: headerName.nullable(),
  signature_prefix: z.string().max(32).describe("Stands before each signature in its header."),
  signature_separator: z
    .enum([",", ";", " "])
    .nullable()
    .describe("Stands between several signatures in one header; null where there is one."),
  timestamp_header: headerName,
  timestamp_from: atPointer
    .nullable()
    .describe("Where the body holds the time that is signed, for senders that write it there."),
  delivery_id_header: headerName,
  event_type_header: headerName,
};
const hmacMembers = {
  algorithm: z.enum(["sha256", "sha512", "sha1"]).describe("sha1 is taken with `accept_weak` alone."),
  accept_weak: z.boolean(),
};
const tokenMembers = {
  token_from: atPointer
    .nullable()
    .describe(
      "Where the body holds the token; of a list on the way every item has to show it. Nothing in a header then counts.",
    ),
};
const shownTokenMembers = {
  token_header: headerName,
  token_format: z
    .enum(["plain", "bearer", "basic"])
    .describe("`plain`: the header is the secret; `bearer`: behind `Bearer`; `basic`: the secret is `user:password`."),
};
const claimName = z.string().min(1).max(256);
const jwtMembers = {
  issuer: claimName.nullable().describe("The `iss` of the sender's tokens."),
  audience: claimName.nullable().describe("What must be among the `aud` of a token."),
  body_digest_claim: claimName.nullable().describe("The claim with the SHA-256 of the body, where a token has one."),
  body_digest_encoding: z.enum(["hex", "base64", "base64url"]).describe("How that digest is written."),
};
/** For every scheme. */
const senderMembers = {
  keep_rejected_bodies: z.boolean().describe("Whether what is refused is kept, to be looked at and tried again."),
  delivery_id_from: placeOfId.describe("Where the sender says which delivery it is, instead of where its scheme does."),
  event_type_from: z.union([inHeader, atPointer]).describe("Where the sender says what type the event has."),
  forwarded_headers: z.array(headerName).max(20),
  rate: z.int().min(1).max(10_000).describe("Webhooks a second that are taken; what comes above is answered 429."),
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
    .describe(
      "The address as the sender has it, where it signs that and it is not `http.base-url` and the source's path.",
    ),
  handshake: z.enum(handshakes).describe("How the sender asks whether the address is ours."),
};

/** Every setting of a source by its name on the wire, in the order that every view shows them. */
export const settingMembers = {
  ...hmacMembers,
  ...templateMembers,
  ...shownTokenMembers,
  ...tokenMembers,
  ...jwtMembers,
  ...senderMembers,
};

const names = (...objects: object[]): ReadonlySet<string> => new Set(objects.flatMap(Object.keys));

/** The settings that belong to schemes; what is not here is for every scheme. */
export const settingsOfSchemes: Readonly<Partial<Record<string, ReadonlySet<string>>>> = {
  hmac: names(hmacMembers, templateMembers),
  ed25519: names(templateMembers),
  token: names(shownTokenMembers, tokenMembers),
  jwt: names(shownTokenMembers, jwtMembers),
};
