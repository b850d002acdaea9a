import type { ReplayEngine } from "@signalbox/events";
import type { RejectionRetry, Replay } from "../replays/replay.ts";

export type ReceivedReplays = ReplayEngine<Replay>;
export type RejectionRetries = ReplayEngine<RejectionRetry>;
