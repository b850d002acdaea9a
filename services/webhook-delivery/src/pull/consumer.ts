import { examples, timestamp } from "@signalbox/contracts";
import { z } from "zod";

/** A consumer of a pull endpoint: the endpoint itself, or one with a name, which reads the same stream at its own place. */
export interface Consumer {
  /** Null for the endpoint itself. */
  readonly name: string | null;
  /** The start as its owner gave it: `now`, a time or the id of an event. Null for the endpoint itself. */
  readonly start: string | null;
  readonly createdAt: Date;
  /** False while the deliveries since its start are being copied; it gets no messages until then. */
  readonly isReady: boolean;
  readonly lag: number;
  readonly leased: number;
  /** Time of the oldest event that it has not acknowledged. */
  readonly oldestAt: Date | null;
}

/** Input of a consumer. */
export const ConsumerBody = z
  .strictObject({
    from: z
      .string()
      .min(1)
      .max(128)
      .default("now")
      .describe("Where it starts: `now`, a time, or the id of an event that the endpoint got."),
  })
  .meta({ id: "PutWebhookConsumer" })
  .register(examples, { example: { from: "2026-01-01T09:00:00.000Z" } });

export const ConsumerResource = z
  .object({
    name: z.string().nullable().describe("Null for the endpoint itself, which is read without a name."),
    from: z.string().nullable().describe("Where it started, as it was asked for; null for the endpoint itself."),
    status: z.enum(["copying", "ready"]).describe("`copying` while messages since its start are prepared."),
    lag: z.int().describe("Messages that it has not acknowledged; at most 100,000 are counted."),
    leased: z.int().describe("Those among them that are leased now."),
    oldest_at: timestamp.nullable().describe("Time of the oldest event among them."),
    created_at: timestamp,
  })
  .meta({ id: "WebhookConsumer", description: "A consumer of a pull endpoint, at its own place in the stream." });

export const consumerExample: z.output<typeof ConsumerResource> = {
  name: "billing",
  from: "now",
  status: "ready",
  lag: 12,
  leased: 2,
  oldest_at: "2026-01-01T09:00:00.000Z",
  created_at: "2026-01-01T08:00:00.000Z",
};

examples.add(ConsumerResource, { example: consumerExample });

export const ConsumersResource = z
  .object({ items: z.array(ConsumerResource).describe("The endpoint itself, then its named consumers.") })
  .meta({ id: "WebhookConsumers" })
  .register(examples, { example: { items: [consumerExample] } });

export const viewConsumer = (consumer: Consumer): z.output<typeof ConsumerResource> => ({
  name: consumer.name,
  from: consumer.start,
  status: consumer.isReady ? "ready" : "copying",
  lag: consumer.lag,
  leased: consumer.leased,
  oldest_at: consumer.oldestAt?.toISOString() ?? null,
  created_at: consumer.createdAt.toISOString(),
});
