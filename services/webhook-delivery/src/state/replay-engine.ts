import type { createReplayEngine } from "@signalbox/events";
import type { Replay } from "../replays/replay.ts";

/** The engine of the replays of deliveries. */
export type ReplayEngine = ReturnType<typeof createReplayEngine<Replay>>;
