import { z } from "zod";
import { examples, identifier, timestamp } from "./fields.ts";
import { webhookSchemes, webhookSourceExample } from "./webhook-source.ts";

/** A refused webhook with its reason, and the figures that show the mistake. */
export const WebhookRejectionResource = z
  .object({
    id: identifier("The rejection"),
    reason: z.string().describe("A stable code, such as signature_mismatch."),
    status: z.int().describe("Status of the answer to the partner."),
    body_bytes: z.int().describe("The size of the body in bytes."),
    address: z.string().describe("The network address of the sender."),
    kept: z.boolean().describe("True when the whole webhook is kept and can be retried."),
    received_id: z.string().nullable().describe("The received webhook that a retry created."),
    signed_at: timestamp.nullable().describe("The signed timestamp as it was sent; null when none could be read."),
    age_seconds: z.int().nullable().describe("Seconds from then to its arrival; negative for a time in the future."),
    tolerance_seconds: z
      .number()
      .nullable()
      .describe("The largest deviation, in either direction, that the source accepted."),
    expected: z.enum(webhookSchemes).nullable().describe("The scheme of the source."),
    found: z.enum(webhookSchemes).nullable().describe("The scheme that the headers suggest; null for none."),
    headers_seen: z.array(z.string()).describe("Names of the headers that the scheme reads and the request had."),
    headers_missing: z.array(z.string()).describe("Names of the headers that were missing."),
    verify_url: z.string().describe("Post the webhook to this path for a step-by-step explanation."),
    rejected_at: timestamp,
  })
  .meta({ id: "WebhookRejection" })
  .register(examples, {
    example: {
      id: "rej_01kbdq4v00e8w9x2m5n7p3r6tz",
      reason: "signature_mismatch",
      status: 401,
      body_bytes: 38,
      address: "192.0.2.10",
      kept: true,
      received_id: null,
      signed_at: "2026-01-01T08:59:58.000Z",
      age_seconds: 2,
      tolerance_seconds: 300,
      expected: "hmac",
      found: "hmac",
      headers_seen: ["x-signature", "x-timestamp"],
      headers_missing: [],
      verify_url: `https://api.example.com/api/v1/webhooks/sources/${webhookSourceExample.id}/verify`,
      rejected_at: "2026-01-01T09:00:00.000Z",
    },
  });
