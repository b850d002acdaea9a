import { useQueryClient } from "@tanstack/react-query";
import { startTransition, useEffect, useRef, useState } from "react";
import { type LiveAttempt, LiveFeed, type LiveState } from "./live-feed.ts";
import type { Live } from "./read-every.ts";

interface LiveOptions {
  readonly endpointId?: string | undefined;
  /** False for a page that shows the past, such as the second of a list. */
  readonly isOn: boolean;
  readonly onBatch: (attempts: readonly LiveAttempt[]) => void;
}

/** Makes a page follow attempts, which it takes as they are made. */
export function useLive({ endpointId, isOn, onBatch }: LiveOptions): Live {
  const [state, setState] = useState<LiveState>("connecting");
  const feed = useRef<LiveFeed | null>(null);
  const queries = useQueryClient();
  const take = useRef(onBatch);
  take.current = onBatch;
  useEffect(() => {
    if (!isOn) return;
    const opened = new LiveFeed({
      endpointId,
      onState: setState,
      onGap: () => void queries.invalidateQueries(),
      // Rendered in slices, so that no batch holds up what a person types.
      onBatch: (attempts) => startTransition(() => take.current(attempts)),
    });
    feed.current = opened;
    return () => opened.close();
  }, [endpointId, isOn, queries]);
  const toggle = () => (state === "paused" ? feed.current?.resume() : feed.current?.pause());
  return { state, toggle };
}
