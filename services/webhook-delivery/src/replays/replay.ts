import { dateInput, examples, identifier, timestamp } from "@signalbox/contracts";
import type { ReplayKind } from "@signalbox/events";
import { z } from "zod";
import { columns } from "../generated/columns.ts";
import type { Replay as Row } from "../generated/prisma/client.ts";

/** A replay: deliveries of an endpoint, or of all endpoints of its account, that go out again. */
export interface Replay extends Omit<Row, "statuses" | "status" | "turns" | "dueAt"> {
  readonly statuses: readonly ReplayedStatus[];
  readonly status: (typeof replayStatuses)[number];
  /** Endpoints whose turns are to come; empty where the replay is of one. */
  readonly turns: readonly Turn[];
}

/** An endpoint of an account's retry, with the last of its deliveries that was queued and the number of those to come. */
export interface Turn {
  readonly endpointId: string;
  readonly placeTime: string;
  readonly placeId: string;
  readonly left: number;
}

const replayStatuses = ["running", "done", "cancelled"] as const;
/** States of deliveries that go out again. `waiting` ones are stored as pending, and go out now instead of later. */
export const replayedStatuses = ["succeeded", "exhausted", "parked", "waiting"] as const;
/** States of deliveries that have not arrived. One that was cancelled is not among them. */
export const retriedStatuses = ["waiting", "exhausted", "parked"] as const;
type ReplayedStatus = (typeof replayedStatuses)[number];

export type ReplayFilter = Pick<Replay, "endpointId" | "statuses" | "eventTypes" | "eventIds" | "fromTime" | "toTime">;

export const replayKind: ReplayKind<Replay> = {
  table: "replays",
  columns: columns.replays,
  progress: ["replayed", "placeTime", "placeId", "turns", "leftOut", "endedAt"],
  listedBy: "account_id",
  parent: "endpoint_id",
  runningMax: 1,
  // A step queues a whole second: making up for a late one would double its rate.
  lateMsMax: 0,
  ended: (status, endedAt) => ({ status, endedAt }),
};

export const replayExample = {
  id: "whr_01kdzq7c9p4r6s8t0v2w5x7y1z",
  endpoint_id: "whe_01kdzq5a7m2n4p6q8r0s1t3v5w",
  statuses: ["exhausted" as const],
  event_types: ["order.*"],
  event_ids: [],
  from: "2026-01-01T09:00:00.000Z",
  to: "2026-01-01T11:00:00.000Z",
  rate: 50,
  status: "running" as const,
  total: 12_000,
  replayed: 350,
  left_out: 0,
  created_at: "2026-01-01T12:00:00.000Z",
  ended_at: null,
};

export const ReplayResource = z
  .object({
    id: identifier("The replay, sent as `X-Replay-Id`"),
    endpoint_id: identifier("The endpoint").nullable().describe("The endpoint; null for all of the account."),
    statuses: z.array(z.enum(replayedStatuses)).describe("The states of the deliveries that are repeated."),
    event_types: z.array(z.string()).describe("Empty for all."),
    event_ids: z.array(z.string()).describe("Empty for all."),
    from: timestamp,
    to: timestamp,
    rate: z.int().nullable().describe("Deliveries per second; null for no limit."),
    status: z.enum(replayStatuses).describe("The state of the replay."),
    total: z.int().describe("Number of matching deliveries at its start."),
    replayed: z.int().describe("Number of deliveries queued so far, without those that were already being attempted."),
    left_out: z
      .int()
      .describe(
        "For a replay of all endpoints: matching deliveries of endpoints that are not enabled or were deleted meanwhile.",
      ),
    created_at: timestamp,
    ended_at: timestamp.nullable().describe("The time of its end; null while it runs."),
  })
  .meta({
    id: "WebhookReplay",
    description:
      "A replay, which sends deliveries of one endpoint or of all endpoints again, oldest first per endpoint.",
  })
  .register(examples, { example: replayExample });

export const CountedResource = z
  .object({
    count: z.int().describe("The number of deliveries that the replay would repeat."),
    left_out: z.int().optional().describe("For all endpoints: as in the replay."),
  })
  .meta({ id: "WebhookReplayCount" })
  .register(examples, { example: { count: 12_000 } });

const from = dateInput.describe("Deliveries of events at this time or later.");

const endpointId = z.string().min(1).max(64).describe("The endpoint that receives the deliveries.");
const choice = {
  event_types: z
    .array(z.string().min(1).max(200))
    .max(50)
    .default([])
    .describe("Only these event types; empty is all."),
  event_ids: z.array(z.string().min(1).max(128)).max(1_000).default([]).describe("Only these events; empty is all."),
  to: dateInput.optional().describe("Deliveries of events before this time. Default: now."),
  rate: z.int().min(1).max(1_000).nullable().default(null).describe("Deliveries per second."),
  dry_run: z.boolean().default(false).describe("Only counts the deliveries."),
};
const isForward = ({ from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined }) =>
  from === undefined || to === undefined || from <= to;
const forward = { path: ["to"], error: "to must not be earlier than from." };

export const StartReplayBody = z
  .strictObject({
    endpoint_id: endpointId,
    ...choice,
    from,
    status: z.enum(replayedStatuses).optional().describe("`waiting`: for an attempt. Default: all of these states."),
  })
  .refine(isForward, forward)
  .meta({ id: "StartWebhookReplay" })
  .register(examples, {
    example: {
      endpoint_id: replayExample.endpoint_id,
      status: "exhausted",
      from: replayExample.from,
      to: replayExample.to,
      rate: 50,
    },
  });

export const RetryDeliveriesBody = z
  .strictObject({
    endpoint_id: endpointId.optional().describe("Only deliveries to this endpoint. Default: all push endpoints."),
    ...choice,
    from: from.optional().describe("Deliveries of events at this time or later. Default: all that are kept."),
    status: z.enum(retriedStatuses).optional().describe("States of the deliveries. Default: all not delivered."),
  })
  .refine(isForward, forward)
  .meta({ id: "RetryWebhookDeliveries" })
  .register(examples, { example: { endpoint_id: replayExample.endpoint_id, status: "waiting", rate: 50 } });

/** Input of a replay without its states. */
export type ReplayChoice = Omit<z.output<typeof StartReplayBody>, "endpoint_id" | "status"> & {
  readonly endpoint_id?: string | undefined;
};

/** Builds the filter of a replay; it never includes future events. */
export function filterOf(
  body: Omit<ReplayChoice, "rate" | "dry_run">,
  statuses: readonly ReplayedStatus[],
  now: Date,
): ReplayFilter {
  const { endpoint_id: endpointId = null, event_types: eventTypes, event_ids: eventIds, from: fromTime, to } = body;
  return { endpointId, statuses, eventTypes, eventIds, fromTime, toTime: to === undefined || to > now ? now : to };
}
