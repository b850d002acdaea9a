import type { Viewer } from "@signalbox/auth";
import {
  draft,
  type EventDraft,
  examples,
  identifier,
  timestamp,
  viewOf,
  webhookDeliveryExample,
} from "@signalbox/contracts";
import { z } from "zod";
import { splitId } from "../endpoints/endpoint-id.ts";
import { ownHeaders } from "../endpoints/endpoint-settings.ts";
import type { DeliveryAttempt as Row } from "../generated/prisma/client.ts";
import type { LeasedDelivery } from "./delivery.ts";
import type { Judgement } from "./retry-schedule.ts";

/** One POST and its result. */
export interface Attempt extends Omit<Row, "decision" | "exchange"> {
  readonly decision: (typeof attemptDecisions)[number] | null;
  readonly exchange: Exchange | null;
}

const attemptDecisions = ["succeeded", "retry", "exhausted", "gone", "held"] as const;

/** Headers of an attempt with the owner's secrets masked, and the milliseconds of each phase. */
interface Exchange {
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly responseHeaders: Readonly<Record<string, string>>;
  readonly phases: Readonly<Record<AttemptPhase, number | null>> | null;
}

const attemptPhases = ["resolve", "connect", "tls", "send", "first_byte", "body"] as const;
export type AttemptPhase = (typeof attemptPhases)[number];

const milliseconds = z.number().nullable();
const headers = z.record(z.string(), z.string()).nullable();

export const AttemptResource = z
  .object({
    id: identifier("The attempt"),
    delivery_id: identifier("The delivery"),
    endpoint_id: identifier("The endpoint"),
    event_type: z.string().nullable().describe("The name of the event; null for older attempts, which lack it."),
    number: z.int().describe("1 for the first."),
    started_at: timestamp,
    duration_ms: z.int().describe("The length of the attempt in milliseconds."),
    phases: z
      .object(
        Object.fromEntries(
          attemptPhases.map((phase) => [phase, milliseconds.describe(`The milliseconds of ${phase}.`)]),
        ),
      )
      .nullable()
      .describe(
        "Milliseconds of each phase; null for a phase that was not needed, such as `connect` on an open connection.",
      ),
    status: z.int().nullable().describe("HTTP status; null if there was no response."),
    error: z.string().nullable().describe("Why there was no response, as a stable code."),
    phase: z.string().nullable().describe("The phase that failed without a response, such as `connect`."),
    request_headers: headers.describe("Headers as sent; values of secret headers are masked."),
    response_headers: headers.describe("The first 4 KiB."),
    response: z.string().nullable().describe("The first 16 KiB of the response, decoded."),
    decision: z.enum(attemptDecisions).nullable().describe("What was decided after the attempt."),
    next_attempt_at: timestamp.nullable().describe("Time planned for the next attempt; null if none was planned."),
    counted: z
      .boolean()
      .describe("False for an attempt whose lease had expired: another attempt with its number was recorded first."),
  })
  .meta({ id: "WebhookAttempt", description: "One POST and its result." })
  .register(examples, {
    example: {
      id: "wha_01kdzq7c9p4r6s8t0v2w5x7y1z",
      delivery_id: webhookDeliveryExample.id,
      endpoint_id: webhookDeliveryExample.endpoint_id,
      event_type: webhookDeliveryExample.event_type,
      number: 1,
      started_at: webhookDeliveryExample.created_at,
      duration_ms: 84,
      phases: { resolve: 2.1, connect: 8.4, tls: 19.2, send: 0.3, first_byte: 53.5, body: 0.5 },
      status: 503,
      error: null,
      phase: null,
      request_headers: { "content-type": "application/json", Authorization: "***" },
      response_headers: { "retry-after": "60" },
      response: "down for maintenance",
      decision: "retry",
      next_attempt_at: "2026-01-01T09:01:00.000Z",
      counted: true,
    },
  });

export const viewAttempt = viewOf(AttemptResource, ({ endpointId, exchange }: Attempt) => ({
  endpoint_id: splitId(endpointId).endpointId,
  phases: exchange?.phases ?? null,
  request_headers: exchange?.requestHeaders ?? null,
  response_headers: exchange?.responseHeaders ?? null,
}));

/** Builds the entry of an attempt, before its consequences are known. */
export const attemptOf = (
  delivery: LeasedDelivery,
  ended: Pick<Attempt, "id" | "startedAt" | "durationMs" | "status" | "error"> & Partial<Attempt>,
): Attempt => ({
  deliveryId: delivery.id,
  endpointId: delivery.endpointId,
  accountId: delivery.accountId,
  eventType: delivery.eventType,
  number: delivery.attempts + 1,
  response: null,
  counted: true,
  phase: null,
  decision: null,
  nextAttemptAt: null,
  exchange: null,
  ...ended,
});

export function attemptedEvent(
  { id: deliveryId, endpointId: rowId, accountId, eventType }: LeasedDelivery,
  { id, number, status, error, durationMs, startedAt }: Attempt,
  outcome: Judgement["outcome"],
): EventDraft {
  const { endpointId } = splitId(rowId);
  const data = {
    id,
    delivery_id: deliveryId,
    endpoint_id: endpointId,
    event_type: eventType,
    number,
    outcome,
    status,
    error,
    duration_ms: durationMs,
    started_at: startedAt.toISOString(),
  };
  return draft("webhook_delivery.attempted", { subject: endpointId, accountId, data });
}

/** Returns the attempt as the viewer may see it: a portal session gets the request headers that are ours alone. */
export function attemptFor<Shown extends Attempt>({ portal }: Viewer, attempt: Shown): Shown {
  const { exchange } = attempt;
  if (!portal || !exchange) return attempt;
  const ours = Object.entries(exchange.requestHeaders).filter(([name]) => ownHeaders.test(name.toLowerCase()));
  return { ...attempt, exchange: { ...exchange, requestHeaders: Object.fromEntries(ours) } };
}
