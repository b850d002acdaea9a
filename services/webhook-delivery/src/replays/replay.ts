/** Deliveries of an endpoint that its owner wants once more. */
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
  /** Deliveries in a second; null for as many as the endpoint takes. */
  readonly rate: number | null;
  readonly status: (typeof replayStatuses)[number];
  readonly total: number;
  readonly replayed: number;
  /** The last delivery that was queued. */
  readonly placeTime: Date;
  readonly placeId: string;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

export const replayStatuses = ["running", "done", "cancelled"] as const;
/** Those that are over: what waits goes out anyway. */
export const replayedStatuses = ["succeeded", "exhausted", "parked"] as const;
type ReplayedStatus = (typeof replayedStatuses)[number];

/** Which deliveries are wanted. */
export type ReplayFilter = Pick<Replay, "endpointId" | "statuses" | "eventTypes" | "eventIds" | "fromTime" | "toTime">;

/** One replay is not for more. */
export const deliveriesMax = 1_000_000;
