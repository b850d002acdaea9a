import { seconds } from "@signalbox/core";
import type { ReplayKind } from "@signalbox/events";
import { columns } from "../generated/columns.ts";
import type { ReceivedReplay, RejectionRetry as RetryRow } from "../generated/prisma/client.ts";

type Progressing<Row> = Omit<Row, "status" | "dueAt"> & { readonly status: "running" | "completed" | "cancelled" };

/** A replay: received webhooks of a source that are published again, in the order of their arrival. */
export type Replay = Progressing<ReceivedReplay>;

/** A retry of the kept rejections of a source, in the order of their arrival, with what became of them so far. */
export type RejectionRetry = Progressing<RetryRow>;

const ofSource = {
  listedBy: "source_id",
  parent: "source_id",
  lateMsMax: seconds(1),
  ended: (status: "done" | "cancelled", finishedAt: Date) => ({
    status: status === "done" ? ("completed" as const) : status,
    finishedAt,
  }),
};

export const replayKind: ReplayKind<Replay> = {
  ...ofSource,
  table: "received_replays",
  columns: columns.received_replays,
  progress: ["published", "missing", "positionAt", "positionId", "finishedAt"],
  runningMax: 3,
};

export const retryKind: ReplayKind<RejectionRetry> = {
  ...ofSource,
  table: "rejection_retries",
  columns: columns.rejection_retries,
  progress: ["received", "repeated", "refused", "positionAt", "positionId", "finishedAt"],
  // Two at once would take turns, and the order would be lost.
  runningMax: 1,
};
