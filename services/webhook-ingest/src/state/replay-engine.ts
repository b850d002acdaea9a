import type { ReplayEngine } from "@signalbox/events";
import type { RejectionRetry } from "../rejections/rejection-retry.ts";
import type { Replay } from "../replays/replay.ts";

export type ReceivedReplays = ReplayEngine<Replay>;
export type RejectionRetries = ReplayEngine<RejectionRetry>;
