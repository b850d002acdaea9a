import type { ReplayKind, ReplayRow } from "@signalbox/events";

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

export const replayStatuses = ["running", "done", "cancelled"] as const;
/** Statuses of ended deliveries. Pending ones go out anyway. */
export const replayedStatuses = ["succeeded", "exhausted", "parked"] as const;
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
