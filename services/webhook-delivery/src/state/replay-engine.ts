import type { createReplayEngine } from "@signalbox/events";
import type { Replay } from "../replays/replay.ts";

export type ReplayEngine = ReturnType<typeof createReplayEngine<Replay>>;
