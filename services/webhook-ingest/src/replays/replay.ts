import { seconds } from "@signalbox/core";
import type { ReplayKind, ReplayRow } from "@signalbox/events";
import { columns } from "../generated/columns.ts";

/** A replay: received webhooks of a source that are published again, in the order of their arrival. */
export interface Replay extends ReplayRow {
  readonly sourceId: string;
  readonly status: "running" | "completed" | "cancelled";
  /** The chosen webhooks in their order; empty for all between the times. */
  readonly receivedIds: readonly string[];
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly rate: number;
  readonly published: number;
  /** Number of webhooks chosen by id that were past the retention when their turn came. */
  readonly missing: number;
  /** Position: the last webhook that was published. */
  readonly positionAt: Date;
  readonly positionId: string;
  readonly finishedAt: Date | null;
}

export const replayKind: ReplayKind<Replay> = {
  table: "received_replays",
  columns: columns.received_replays,
  progress: ["published", "missing", "positionAt", "positionId", "finishedAt"],
  listedBy: "source_id",
  parent: "source_id",
  runningMax: 3,
  lateMsMax: seconds(1),
  ended: (status, finishedAt) => ({ status: status === "done" ? "completed" : status, finishedAt }),
};
