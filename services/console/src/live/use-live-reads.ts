import { ApiError, SubscriptionError } from "@signalbox/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { api } from "../session/api.ts";
import { isSignedIn, onSessionChange, renewOnce } from "../session/session.ts";
import type { Live, LiveState } from "./read-every.ts";

/** Changes that come together are read together. */
const readAfterMs = 250;
const retryMs = 2_000;

/**
 * Follows a subscription while the page is seen. After a message, and after each connection, the queries whose keys begin
 * with one of these names are read again, so that nothing is missed while a connection is made, or during a pause.
 */
export function useLiveReads(subscription: string, names: string, isWanted = true): Live {
  const queries = useQueryClient();
  const [state, setState] = useState<LiveState>("connecting");
  const [isPaused, setPaused] = useState(false);
  // A browser has six connections for all tabs, and a hidden one keeps none.
  const isVisible = useSyncExternalStore(onVisibilityChange, () => document.visibilityState === "visible");
  const isOn = isVisible && isWanted && !isPaused;
  useEffect(() => {
    if (!isOn) return;
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      void queries.invalidateQueries({ predicate: ({ queryKey: [name] }) => names.split(" ").includes(String(name)) });
    };
    const readSoon = () => {
      timer ??= setTimeout(read, readAfterMs);
    };
    setState("connecting");
    void follow(subscription, { signal: stop.signal, onState: setState, onChange: readSoon });
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [queries, subscription, names, isOn]);
  return { state: isPaused ? "paused" : state, toggle: () => setPaused(!isPaused) };
}

function onVisibilityChange(listener: () => void): () => void {
  document.addEventListener("visibilitychange", listener);
  return () => document.removeEventListener("visibilitychange", listener);
}

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onState: (state: LiveState) => void;
  readonly onChange: () => void;
}

/** Reads the messages until the page is left, or the deployment or the credential has no subscriptions. */
async function follow(subscription: string, { signal, onState, onChange }: FollowOptions): Promise<void> {
  const onConnection = (isOpen: boolean) => {
    if (signal.aborted) return;
    onState(isOpen ? "live" : "reconnecting");
    if (isOpen) onChange();
  };
  while (!signal.aborted) {
    try {
      for await (const _message of api.subscribe(subscription, { signal, onConnection })) onChange();
    } catch (error) {
      if (signal.aborted) return;
      if (!(await mayComeBack(error))) {
        onState("off");
        await nextSignIn(signal);
      }
    }
    if (signal.aborted) return;
    onState("reconnecting");
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
}

/** Waits for a new sign-in, or until the page is left. */
function nextSignIn(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const forget = onSessionChange(() => isSignedIn() && end());
    const end = () => {
      forget();
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}

async function mayComeBack(error: unknown): Promise<boolean> {
  if (error instanceof SubscriptionError)
    return error.code === "CURSOR_EXPIRED" || (error.code === "UNAUTHENTICATED" && (await renewOnce()));
  return !(error instanceof ApiError) || error.status >= 500 || error.status === 429;
}
