import type { createReplayEngine } from "@signalbox/events";
import type { RejectionRetry } from "../rejections/rejection-retry.ts";
import type { Replay } from "../replays/replay.ts";

/** Runs replays of received webhooks step by step. */
export type ReplayEngine = ReturnType<typeof createReplayEngine<Replay>>;

/** Runs retries of rejections step by step. */
export type RetryEngine = ReturnType<typeof createReplayEngine<RejectionRetry>>;
