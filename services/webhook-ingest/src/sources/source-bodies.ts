import { webhookSchemes } from "@signalbox/contracts";
import type { HmacOptions } from "@signalbox/webhook-signatures";
import { z } from "zod";

const name = z.string().trim().min(1).max(100).describe("What the owner calls the partner.");
const secret = z.string().min(1).max(1024).describe("What the partner signs with. Write-only.");
const eventTypes = z
  .array(z.string().min(1).max(256))
  .min(1)
  .max(100)
  .nullable()
  .describe("The partner's types that are accepted; null accepts every type.");
const forward = z.boolean().describe("Whether accepted webhooks go on to the account's endpoints.");
const headerName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,64}$/)
  .transform((text) => text.toLowerCase());
const settings = z
  .strictObject({
    algorithm: z.enum(["sha256", "sha512"]),
    encoding: z.enum(["hex", "base64"]),
    time: z.enum(["header", "pairs", "none"]),
    separator: z.string().max(8),
    signatureHeader: headerName,
    previousSignatureHeader: headerName.nullable(),
    signaturePrefix: z.string().max(32),
    timestampHeader: headerName,
    deliveryIdHeader: headerName,
    eventTypeHeader: headerName,
  })
  .partial()
  // Absent members are absent in the output too, which the type of `partial` does not say.
  .transform((given) => given as Partial<HmacOptions>)
  .describe("How the sender differs from the specification's own headers; for the scheme `hmac` alone.");

export const CreateSourceBody = z
  .strictObject({
    name,
    scheme: z.enum(webhookSchemes).describe("How the partner signs."),
    secret,
    event_types: eventTypes.default(null),
    forward: forward.default(true),
    settings: settings.default({}),
  })
  .meta({ id: "CreateWebhookSource" });

/** A merge patch: an absent member stays as it is. The scheme is fixed, because a secret belongs to it. */
export const ChangeSourceBody = z
  .strictObject({
    name,
    secret,
    event_types: eventTypes,
    forward,
    settings,
    status: z.enum(["enabled", "paused"]).describe("While paused, the partner is answered 503 and tries again."),
  })
  .partial()
  .meta({ id: "ChangeWebhookSource" });
