import type { ReplayEngine } from "@signalbox/events";
import type { Replay } from "../replays/replay.ts";

export type Replays = ReplayEngine<Replay>;
