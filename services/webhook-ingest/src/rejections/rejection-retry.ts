import { seconds } from "@signalbox/core";
import type { ReplayKind, ReplayRow } from "@signalbox/events";
import { columns } from "../generated/columns.ts";

/** Kept rejections of a source between two times, of a reason or of any. */
export interface RejectionChoice {
  readonly sourceId: string;
  readonly reason: string | null;
  readonly fromAt: Date;
  readonly toAt: Date;
}

/** A retry of the kept rejections of a source, in the order of their arrival, with what became of them so far. */
export interface RejectionRetry extends ReplayRow, RejectionChoice {
  readonly status: "running" | "completed" | "cancelled";
  readonly rate: number;
  readonly received: number;
  readonly repeated: number;
  readonly refused: number;
  /** Position: the last rejection that was verified again. */
  readonly positionAt: Date;
  readonly positionId: string;
  readonly finishedAt: Date | null;
}

export const retryKind: ReplayKind<RejectionRetry> = {
  table: "rejection_retries",
  columns: columns.rejection_retries,
  progress: ["received", "repeated", "refused", "positionAt", "positionId", "finishedAt"],
  listedBy: "source_id",
  parent: "source_id",
  // Two at once would take turns, and the order would be lost.
  runningMax: 1,
  lateMsMax: seconds(1),
  ended: (status, finishedAt) => ({ status: status === "done" ? "completed" : status, finishedAt }),
};
