import { useState } from "react";
import { Button } from "./button.tsx";
import styles from "./parts.module.css";
import { durationText } from "./time-text.ts";

/** The interval at which a part of a page is read again; false while the person has paused it. */
export interface ReadAgain {
  readonly refetchInterval: number | false;
}

/** The state of a page that reads itself again: how often, and a button that stops it. */
export function useReadAgain(everyMs: number) {
  const [isPaused, setPaused] = useState(false);
  const control = (
    <span className={styles.row}>
      <span className={styles.quiet}>{isPaused ? "Paused" : `Refreshed every ${durationText(everyMs)}`}</span>
      <Button label={isPaused ? "Resume" : "Pause"} onClick={() => setPaused(!isPaused)} />
    </span>
  );
  return { refetchInterval: isPaused ? (false as const) : everyMs, control };
}
