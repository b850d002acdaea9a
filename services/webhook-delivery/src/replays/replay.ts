/** A replay: deliveries of an endpoint that go out again. */
export interface Replay {
  readonly id: string;
  readonly accountId: string;
  readonly endpointId: string;
  readonly statuses: readonly ReplayedStatus[];
  /** Names of events, or prefixes that end in `*`; empty for all. */
  readonly eventTypes: readonly string[];
  readonly eventIds: readonly string[];
  readonly fromTime: Date;
  readonly toTime: Date;
  /** Deliveries per second; null for no limit. */
  readonly rate: number | null;
  readonly status: (typeof replayStatuses)[number];
  readonly total: number;
  readonly replayed: number;
  /** Position: the last delivery that was queued. */
  readonly placeTime: Date;
  readonly placeId: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export const replayStatuses = ["running", "done", "cancelled"] as const;
/** Statuses of ended deliveries. Pending ones go out anyway. */
export const replayedStatuses = ["succeeded", "exhausted", "parked"] as const;
type ReplayedStatus = (typeof replayedStatuses)[number];

/** Filter of the deliveries of a replay. */
export type ReplayFilter = Pick<Replay, "endpointId" | "statuses" | "eventTypes" | "eventIds" | "fromTime" | "toTime">;
