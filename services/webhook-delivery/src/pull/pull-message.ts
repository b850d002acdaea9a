import { examples, identifier, timestamp, webhookDeliveryExample } from "@signalbox/contracts";
import { z } from "zod";

const messagesMax = 100;
const waitSecondsMax = 30;
const leaseSecondsMax = 3_600;
const leaseSecondsDefault = 60;

export const ConsumerName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, { error: "Use lower-case letters, digits, - and _." });

const leaseIds = z
  .array(z.string().min(1).max(64))
  .min(1)
  .max(messagesMax)
  .refine((given) => new Set(given).size === given.length, { error: "Duplicate lease." })
  .describe("The leases, as `lease_id` of the messages names them.");

export const AckBody = z.strictObject({ lease_ids: leaseIds }).meta({ id: "AckWebhookMessages" });

export const NackBody = z
  .strictObject({
    lease_ids: leaseIds,
    delay_seconds: z
      .int()
      .min(0)
      .max(86_400)
      .nullable()
      .default(null)
      .describe("Delay until the next attempt. Default: that of the schedule."),
    reason: z.string().max(1_000).nullable().default(null).describe("The reason, kept in the log of attempts."),
  })
  .meta({ id: "NackWebhookMessages" });

const leaseWords = "Time until the lease ends, counted from now.";

export const ExtendBody = z
  .strictObject({ lease_ids: leaseIds, lease_seconds: z.int().min(1).max(leaseSecondsMax).describe(leaseWords) })
  .meta({ id: "ExtendWebhookMessages" });

const whole = (min: number, max: number) => z.coerce.number<string>().int().min(min).max(max);

export const PollQuery = z.object({
  credit: whole(1, messagesMax).default(10).describe("For streams: maximum number of unacknowledged messages."),
  limit: whole(1, messagesMax).default(10).describe("Largest number of messages in the answer."),
  wait_seconds: whole(0, waitSecondsMax).default(0).describe("Time to wait for the first message."),
  lease_seconds: whole(1, leaseSecondsMax).default(leaseSecondsDefault).describe(leaseWords),
  consumer: ConsumerName.optional().describe("A named consumer. Default: the endpoint itself."),
});

export const MessageResource = z
  .object({
    lease_id: z.string().describe("The lease, which is also the id of the attempt in the log."),
    delivery_id: identifier("The delivery"),
    event_id: z.string().describe("The id of the event, the same for all of its deliveries."),
    type: z.string().describe("The type of the event."),
    attempt: z.int().describe("1 for the first."),
    lease_ends_at: timestamp,
    headers: z.record(z.string(), z.string()).describe("Headers that a push would send, including the signatures."),
    body: z.string().describe("Body that a push would send, byte for byte."),
    body_encoding: z.enum(["utf8", "base64"]).describe("`base64` for a body that is not UTF-8 text."),
  })
  .meta({ id: "WebhookMessage" });

const body = '{"id":"019b7f71-aaf9-7c12-8e5f-0d4d6a2b9c11","type":"image.created","data":{}}';
const leaseExample = "wha_01kdzq7c9p4r6s8t0v2w5x7y1z";

const messageExample: z.output<typeof MessageResource> = {
  lease_id: leaseExample,
  delivery_id: webhookDeliveryExample.id,
  event_id: webhookDeliveryExample.event_id,
  type: webhookDeliveryExample.event_type,
  attempt: 1,
  lease_ends_at: "2026-01-01T09:01:00.000Z",
  headers: {
    "content-type": "application/json",
    "webhook-id": webhookDeliveryExample.event_id,
    "webhook-timestamp": "1767258000",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  },
  body,
  body_encoding: "utf8",
};

export const MessagesResource = z
  .object({ items: z.array(MessageResource).describe("The leased messages, in their order.") })
  .meta({ id: "WebhookMessages" })
  .register(examples, { example: { items: [messageExample] } });

export const LeaseResult = z.object({
  lease_id: z.string().describe("The lease."),
  decision: z.string().nullable().describe("What happens next: `succeeded`, `retry` or `exhausted`."),
  next_attempt_at: timestamp.nullable(),
  repeated: z.boolean().describe("True if an earlier request had already done this."),
});

export const LeaseResults = z
  .object({ items: z.array(LeaseResult).describe("The outcome of each lease, in the order of the request.") })
  .meta({ id: "WebhookLeaseResults" })
  .register(examples, {
    example: { items: [{ lease_id: leaseExample, decision: "succeeded", next_attempt_at: null, repeated: false }] },
  });

export const ExtendedLeases = z
  .object({
    items: z
      .array(z.object({ lease_id: z.string().describe("The lease."), lease_ends_at: timestamp }))
      .describe("The leases with their new ends, in the order of the request."),
  })
  .meta({ id: "ExtendedWebhookLeases" })
  .register(examples, { example: { items: [{ lease_id: leaseExample, lease_ends_at: "2026-01-01T09:05:00.000Z" }] } });

examples.add(AckBody, { example: { lease_ids: [leaseExample] } });
examples.add(NackBody, {
  example: { lease_ids: [leaseExample], delay_seconds: 30, reason: "The database is unavailable." },
});
examples.add(ExtendBody, { example: { lease_ids: [leaseExample], lease_seconds: 300 } });
