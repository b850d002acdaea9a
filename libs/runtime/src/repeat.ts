import { setTimeout as sleep } from "node:timers/promises";
import { seconds } from "@signalbox/core";
import type { Pause, Turn, Work } from "./runner.ts";

/** Well within the silence after which a worker counts as stuck, for any pause. */
const beatEveryMs = seconds(5);

/** Builds the work of a worker from one turn and the pause until the next. */
export function repeat(pause: Pause, turn: Turn): Work {
  return async (signal, beat) => {
    while (!signal.aborted) {
      beat();
      if (typeof pause === "object") pause.reset();
      if ((await turn(signal, beat)) !== "again") await rest(pause, signal, beat);
    }
  };
}

/**
 * Delay of housekeeping after the start, which should serve waiting callers first; instances that start together should
 * not all clean up together.
 */
const firstRestMs = seconds(3);

/** Like `repeat`, with a pause before the first turn as well: its own, or three to six seconds where that is longer. */
export function repeatLater(pauseMs: number, turn: Turn): Work {
  const work = repeat(pauseMs, turn);
  return async (signal, beat) => {
    await rest(() => Math.min(pauseMs, firstRestMs * (1 + Math.random())), signal, beat);
    await work(signal, beat);
  };
}

async function rest(pause: Pause, signal: AbortSignal, beat: () => void): Promise<void> {
  const heart = setInterval(beat, beatEveryMs);
  try {
    if (typeof pause === "object") return await pause.wait(signal);
    const pauseMs = typeof pause === "function" ? pause() : pause;
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
  } finally {
    clearInterval(heart);
  }
}
