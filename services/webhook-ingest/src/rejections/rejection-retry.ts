import { seconds } from "@signalbox/core";
import type { ReplayKind } from "@signalbox/events";
import { columns } from "../generated/columns.ts";
import type { RejectionRetry as Row } from "../generated/prisma/client.ts";

/** Kept rejections of a source between two times, of a reason or of any. */
export interface RejectionChoice {
  readonly sourceId: string;
  readonly reason: string | null;
  readonly fromAt: Date;
  readonly toAt: Date;
}

/** A retry of the kept rejections of a source, in the order of their arrival, with what became of them so far. */
export interface RejectionRetry extends Omit<Row, "status" | "dueAt"> {
  readonly status: "running" | "completed" | "cancelled";
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
