import type { Clock } from "@signalbox/core";
import { createReplayEngine, type Outbox } from "@signalbox/events";
import type { Pool } from "@signalbox/storage";
import { replayKind } from "../replays/replay.ts";

export type ReplayEngine = ReturnType<typeof openReplayEngine>;

/** Opens the engine that runs replays of received webhooks step by step. */
export const openReplayEngine = (pool: Pool, outbox: Outbox, clock: Clock) =>
  createReplayEngine(replayKind, { pool, outbox, clock });
