import { seconds } from "@signalbox/core";
import type { ReplayKind } from "@signalbox/events";
import { columns } from "../generated/columns.ts";
import type { ReceivedReplay as Row } from "../generated/prisma/client.ts";

/** A replay: received webhooks of a source that are published again, in the order of their arrival. */
export interface Replay extends Omit<Row, "status" | "dueAt"> {
  readonly status: "running" | "completed" | "cancelled";
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
