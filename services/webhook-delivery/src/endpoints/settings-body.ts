import { webhookFormats, webhookSignatures } from "@signalbox/contracts";
import { z } from "zod";
import type { GivenSettings } from "./endpoint-settings.ts";
import { metadataMax } from "./endpoint-settings.ts";
import { compileFilter } from "./event-filter.ts";

/** Headers that belong to the connection, the body, HTTP itself or our signatures. An endpoint cannot set them. */
const ownHeaders =
  /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|expect|host|date|content-.*|accept-encoding|webhook-.*|svix-.*|x-(event-type|delivery-id|replay-id|sequence|timestamp|signature.*|hub-signature.*)|stripe-signature)$/;

const header = z.strictObject({
  name: z
    .string()
    .max(100)
    .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/)
    .refine((name) => !ownHeaders.test(name.toLowerCase()), { error: "An endpoint cannot set this header." }),
  // Visible characters of ASCII, and spaces between them (RFC 9110 §5.5).
  value: z
    .string()
    .max(2_048)
    .regex(/^[!-~]([\t -~]*[!-~])?$/)
    .nullable()
    .default(null),
  secret: z.boolean().default(false),
});

const headers = z
  .array(header)
  .max(10)
  .refine((given) => new Set(given.map(({ name }) => name.toLowerCase())).size === given.length, {
    error: "Duplicate header.",
  })
  .describe("Replaced as a whole. A `secret` header without a value keeps its value.");

const filter = z
  .record(z.string(), z.unknown())
  .superRefine((given, context) => {
    const compiled = compileFilter(given);
    if (typeof compiled === "function") return;
    const path = compiled.path.split(/[.[\]]+/).filter((step) => step !== "");
    context.addIssue({ code: "custom", message: compiled.message, path });
  })
  .meta({ examples: [{ status: { eq: "ready" } }] });

const pem = z.string().min(1).max(16_384);

const members = {
  retry_schedule_seconds: z.array(z.int().min(0).max(86_400)).min(1).max(20).nullable(),
  timeout_seconds: z.int().min(1).max(30).nullable(),
  max_in_flight: z.int().min(1).max(100).nullable(),
  rate: z
    .strictObject({ limit: z.int().min(1).max(10_000), per_seconds: z.int().min(1).max(3_600) })
    .nullable()
    .describe("Attempts per time, over all processes, evenly spread."),
  ordered: z.boolean().nullable().describe("One delivery at a time for each subject, in the order of its events."),
  order_hold_seconds: z.int().min(1).max(604_800).nullable(),
  filter: filter.nullable(),
  headers: headers.nullable(),
  metadata: z
    .record(z.string().min(1).max(64), z.string().max(500).nullable())
    .refine((given) => Object.keys(given).length <= metadataMax, {
      error: `At most ${metadataMax} members are allowed.`,
    })
    .nullable(),
  signatures: z
    .array(z.enum(webhookSignatures))
    .refine((given) => new Set(given).size === given.length, { error: "Duplicate signature." })
    .nullable(),
  client_certificate: z
    .strictObject({ certificate: pem, key: pem })
    .nullable()
    .describe("PEM without a passphrase. The key is never shown."),
  api_version: z.enum(["v1"]).nullable(),
  format: z.enum(webhookFormats).nullable(),
};

/** Null selects the service's default, so in a merge patch it removes the setting (RFC 7396). */
export const SettingsBody = z
  .strictObject(members)
  .partial()
  .transform((given) => given as GivenSettings);
