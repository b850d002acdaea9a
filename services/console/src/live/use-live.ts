import { useQueryClient } from "@tanstack/react-query";
import { startTransition, useEffect, useRef, useState } from "react";
import { type LiveAttempt, LiveFeed, type LiveState } from "./live-feed.ts";

/** The subscription of a live page: its state, and the way to stop it for a while. */
export interface Live {
  readonly state: LiveState;
  readonly toggle: () => void;
}

interface LiveOptions {
  readonly endpointId?: string | undefined;
  /** False for a page that shows the past, such as the second of a list. */
  readonly isOn?: boolean;
  /** Takes the attempts itself; without it everything shown is read again soon after one. */
  readonly onBatch?: (attempts: readonly LiveAttempt[]) => void;
}

/** The wait between two readings of the lists of a page, so that many attempts cause few requests. */
const readAgainMs = 2_000;

/** Makes a page live. */
export function useLive({ endpointId, isOn = true, onBatch }: LiveOptions = {}): Live {
  const [state, setState] = useState<LiveState>("connecting");
  const feed = useRef<LiveFeed | null>(null);
  const queries = useQueryClient();
  const take = useRef(onBatch);
  take.current = onBatch;
  useEffect(() => {
    if (!isOn) return;
    let reading: ReturnType<typeof setTimeout> | null = null;
    const readSoon = () => {
      reading ??= setTimeout(() => {
        reading = null;
        void queries.invalidateQueries({ refetchType: "active" });
      }, readAgainMs);
    };
    const opened = new LiveFeed({
      endpointId,
      onState: setState,
      onGap: () => void queries.invalidateQueries(),
      onBatch: (attempts) => {
        // Rendered in slices, so that no batch holds up what a person types.
        if (take.current) startTransition(() => take.current?.(attempts));
        else readSoon();
      },
    });
    feed.current = opened;
    return () => {
      opened.close();
      if (reading !== null) clearTimeout(reading);
    };
  }, [endpointId, isOn, queries]);
  const toggle = () => (state === "paused" ? feed.current?.resume() : feed.current?.pause());
  return { state, toggle };
}

/** Reads a list every few seconds, also for what no message tells; a paused page stays as it is. */
export const readEvery = ({ state }: Live, isOn = true): number | false =>
  state === "paused" || !isOn ? false : 10_000;
