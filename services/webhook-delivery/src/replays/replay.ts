import { examples, identifier, timestamp } from "@signalbox/contracts";
import type { ReplayKind, ReplayRow } from "@signalbox/events";
import { z } from "zod";

/** A replay: deliveries of an endpoint that go out again. */
export interface Replay extends ReplayRow {
  readonly endpointId: string;
  readonly statuses: readonly ReplayedStatus[];
  readonly eventIds: readonly string[];
  readonly fromTime: Date;
  readonly toTime: Date;
  readonly status: (typeof replayStatuses)[number];
  readonly replayed: number;
  /** Position: the last delivery that was queued. */
  readonly placeTime: Date;
  readonly placeId: string;
  readonly endedAt: Date | null;
}

const replayStatuses = ["running", "done", "cancelled"] as const;
/** Statuses of ended deliveries. Pending ones go out anyway. */
const replayedStatuses = ["succeeded", "exhausted", "parked"] as const;
type ReplayedStatus = (typeof replayedStatuses)[number];

/** Filter of the deliveries of a replay. */
export type ReplayFilter = Pick<Replay, "endpointId" | "statuses" | "eventTypes" | "eventIds" | "fromTime" | "toTime">;

export const replayKind: ReplayKind<Replay> = {
  table: "replays",
  columns: {
    endpointId: "text",
    statuses: "text[]",
    eventIds: "text[]",
    fromTime: "timestamptz",
    toTime: "timestamptz",
    replayed: "int4",
    placeTime: "timestamptz",
    placeId: "text",
    endedAt: "timestamptz",
  },
  progress: ["replayed", "placeTime", "placeId", "endedAt"],
  listedBy: "account_id",
  parent: "endpoint_id",
  runningMax: 1,
  // A step queues a whole second: making up for a late one would double its rate.
  lateMsMax: 0,
  ended: (status, endedAt) => ({ status, endedAt }),
};

/** A replay in examples. */
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
  created_at: "2026-01-01T12:00:00.000Z",
  ended_at: null,
};

/** A replay as its owner sees it. */
export const ReplayResource = z
  .object({
    id: identifier("The replay, sent as `X-Replay-Id`"),
    endpoint_id: identifier("The endpoint"),
    statuses: z.array(z.enum(replayedStatuses)).describe("The states of the deliveries that are repeated."),
    event_types: z.array(z.string()).describe("Empty for all."),
    event_ids: z.array(z.string()).describe("Empty for all."),
    from: timestamp,
    to: timestamp,
    rate: z.int().nullable().describe("Deliveries per second; null for no limit."),
    status: z.enum(replayStatuses).describe("The state of the replay."),
    total: z.int().describe("Number of matching deliveries at its start."),
    replayed: z.int().describe("Number of deliveries queued so far."),
    created_at: timestamp,
    ended_at: timestamp.nullable().describe("The time of its end; null while it runs."),
  })
  .meta({
    id: "WebhookReplay",
    description: "A replay: deliveries of an endpoint that go out again, the oldest first.",
  })
  .register(examples, { example: replayExample });

/** The answer to a dry run. */
export const CountedResource = z
  .object({ count: z.int().describe("The number of deliveries that the replay would repeat.") })
  .meta({ id: "WebhookReplayCount" })
  .register(examples, { example: { count: 12_000 } });

const time = z.iso.datetime().transform((text) => new Date(text));

/** Input of a new replay. */
export const StartReplayBody = z
  .strictObject({
    endpoint_id: z.string().min(1).max(64).describe("The endpoint that receives the deliveries."),
    status: z.enum(replayedStatuses).optional().describe("Default: every delivery that has ended."),
    event_types: z
      .array(z.string().min(1).max(200))
      .max(50)
      .default([])
      .describe("Only events of these types; empty is all."),
    event_ids: z.array(z.string().min(1).max(128)).max(1_000).default([]).describe("Only these events; empty is all."),
    from: time.describe("Deliveries of events at this time or later."),
    to: time.optional().describe("Deliveries of events before this time. Default: now."),
    rate: z.int().min(1).max(1_000).nullable().default(null).describe("Deliveries per second."),
    dry_run: z.boolean().default(false).describe("Only counts the deliveries."),
  })
  .refine(({ from, to }) => to === undefined || from <= to, {
    path: ["to"],
    error: "to must not be earlier than from.",
  })
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

/** Builds the filter of a replay; it never includes future events. */
export function filterOf(body: Omit<z.output<typeof StartReplayBody>, "rate" | "dry_run">, now: Date): ReplayFilter {
  const { endpoint_id: endpointId, status, event_types: eventTypes, event_ids: eventIds, from: fromTime, to } = body;
  const toTime = to === undefined || to > now ? now : to;
  return { endpointId, statuses: status ? [status] : replayedStatuses, eventTypes, eventIds, fromTime, toTime };
}

/** Returns the replay as its owner sees it. */
export const viewReplay = (replay: Replay) => ({
  id: replay.id,
  endpoint_id: replay.endpointId,
  statuses: [...replay.statuses],
  event_types: [...replay.eventTypes],
  event_ids: [...replay.eventIds],
  from: replay.fromTime.toISOString(),
  to: replay.toTime.toISOString(),
  rate: replay.rate,
  status: replay.status,
  total: replay.total,
  replayed: replay.replayed,
  created_at: replay.createdAt.toISOString(),
  ended_at: replay.endedAt?.toISOString() ?? null,
});
