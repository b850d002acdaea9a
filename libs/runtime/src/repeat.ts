import { setTimeout as sleep } from "node:timers/promises";
import { seconds } from "@signalbox/core";
import type { Pause, Turn, Work } from "./runner.ts";

/** Well within the silence after which a worker counts as stuck, however long its pause is. */
const beatEveryMs = seconds(5);

/** Makes the work of a worker from one turn of it and the pause until the next. */
export function repeat(pause: Pause, turn: Turn): Work {
  return async (signal, beat) => {
    while (!signal.aborted) {
      beat();
      if (typeof pause === "object") pause.reset();
      if ((await turn(signal, beat)) !== "again") await rest(pause, signal, beat);
    }
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
