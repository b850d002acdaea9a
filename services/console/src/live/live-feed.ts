import { ApiError, SubscriptionError } from "@signalbox/client";
import { useQueryClient } from "@tanstack/react-query";
import { startTransition, useEffect, useRef, useState } from "react";
import { api } from "../session/api.ts";
import { isSignedIn, renewOnce, sessionState } from "../session/session.ts";
import type { Live, LiveState } from "./read-every.ts";

interface FollowOptions<Message> {
  readonly subscription: string;
  readonly variables?: Readonly<Record<string, unknown>>;
  /** Called at most once in an animation frame, and so often that a person can follow. */
  readonly onBatch: (messages: readonly Message[]) => void;
  /** Called after each connection, for what came while there was none. */
  readonly onOpen?: () => void;
  /** The time of what a message tells, where one that comes late is to be noticed. */
  readonly atOf?: (message: Message) => string;
}

/** Makes a page follow a subscription. `isOn` is false for one that shows the past, such as the second of a list. */
export function useFeed<Message>(options: FollowOptions<Message> & { readonly isOn: boolean }): Live {
  const { subscription, variables, isOn } = options;
  const [state, setState] = useState<LiveState>("connecting");
  const feed = useRef<LiveFeed<Message> | null>(null);
  const queries = useQueryClient();
  const latest = useRef(options);
  latest.current = options;
  const asked = JSON.stringify(variables ?? {});
  useEffect(() => {
    if (!isOn) return;
    const opened = new LiveFeed<Message>({
      subscription,
      variables: JSON.parse(asked),
      onState: setState,
      onGap: () => void queries.invalidateQueries(),
      onOpen: () => latest.current.onOpen?.(),
      // Rendered in slices, so that no batch holds up what a person types.
      onBatch: (messages) => startTransition(() => latest.current.onBatch(messages)),
      ...(latest.current.atOf && { atOf: latest.current.atOf }),
    });
    feed.current = opened;
    return () => opened.close();
  }, [subscription, asked, isOn, queries]);
  const toggle = () => (state === "paused" ? feed.current?.resume() : feed.current?.pause());
  return { state, toggle };
}

interface FeedOptions<Message> extends FollowOptions<Message> {
  readonly onState: (state: LiveState) => void;
  /** Called when messages are gone for good: the lists are to be read again. */
  readonly onGap: () => void;
}

/** More than a page shows; older ones of a batch are in its list when it is read again. */
const batchMax = 200;
const batchEveryMs = 200;
const retryMs = 2_000;
/** A message that is later than the quickest so far by this much comes from before. */
const behindMs = 3_000;
/** Silence after which nothing of before is left to come. */
const caughtUpMs = 1_000;

/**
 * Follows a subscription. A cut is resumed after the last message; so is a pause, and the
 * time in which nobody sees the page: a browser has six connections for all tabs, and a hidden one keeps none.
 */
class LiveFeed<Message> {
  readonly #options: FeedOptions<Message>;
  readonly #visible = () => this.#apply();
  readonly #forgetSession: () => void;
  #cursor: string | null = null;
  #batch: Message[] = [];
  #connection: AbortController | null = null;
  #isPaused = false;
  #isClosed = false;
  #isOff = false;
  #flush: number | null = null;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #flushedAtMs = 0;
  #quickestMs = Number.POSITIVE_INFINITY;

  constructor(options: FeedOptions<Message>) {
    this.#options = options;
    document.addEventListener("visibilitychange", this.#visible);
    this.#forgetSession = sessionState.listen(() => this.#comeBack());
    this.#apply();
  }

  pause(): void {
    this.#isPaused = true;
    this.#apply();
  }

  resume(): void {
    this.#isPaused = false;
    this.#apply();
  }

  close(): void {
    this.#isClosed = true;
    document.removeEventListener("visibilitychange", this.#visible);
    this.#forgetSession();
    if (this.#flush !== null) cancelAnimationFrame(this.#flush);
    this.#disconnect();
  }

  #apply(): void {
    const wants = !this.#isPaused && !this.#isClosed && !this.#isOff && document.visibilityState === "visible";
    if (!wants) this.#disconnect();
    if (this.#isPaused) this.#options.onState("paused");
    if (wants && !this.#connection) void this.#follow();
  }

  #disconnect(): void {
    clearTimeout(this.#quiet);
    this.#connection?.abort();
    this.#connection = null;
  }

  async #follow(): Promise<void> {
    const connection = new AbortController();
    this.#connection = connection;
    const { subscription, variables = {}, onState, onOpen } = this.#options;
    onState(this.#cursor === null ? "connecting" : "reconnecting");
    try {
      const messages = api.subscribe<Readonly<Record<string, Message>>>(subscription, {
        variables,
        signal: connection.signal,
        ...(this.#cursor !== null && { cursor: this.#cursor }),
        onConnection: (isOpen) => {
          if (connection.signal.aborted) return;
          onState(isOpen ? "live" : "reconnecting");
          if (isOpen) onOpen?.();
        },
        onCursor: (cursor) => {
          this.#cursor = cursor;
        },
      });
      for await (const { data } of messages) for (const message of Object.values(data)) this.#take(message);
    } catch (error) {
      if (!connection.signal.aborted && this.#connection === connection) await this.#recover(error);
    }
  }

  async #recover(error: unknown): Promise<void> {
    const code = error instanceof SubscriptionError ? error.code : "";
    if (code === "CURSOR_EXPIRED") {
      this.#cursor = null;
      this.#options.onGap();
    } else if (code === "UNAUTHENTICATED") {
      if (!(await renewOnce())) return this.#turnOff();
    } else if (code !== "" || (error instanceof ApiError && error.status < 500 && error.status !== 429)) {
      return this.#turnOff();
    } else {
      this.#options.onState("reconnecting");
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
    this.#connection = null;
    this.#apply();
  }

  /** Follows again after a new sign-in, which may be of another account. */
  #comeBack(): void {
    if (!this.#isOff || !isSignedIn()) return;
    this.#isOff = false;
    this.#apply();
  }

  #turnOff(): void {
    this.#isOff = true;
    this.#connection = null;
    this.#options.onState("off");
  }

  #take(message: Message): void {
    const at = this.#options.atOf?.(message);
    if (at !== undefined) this.#noticeLate(Date.now() - Date.parse(at));
    this.#batch.push(message);
    if (this.#batch.length > batchMax) this.#batch.shift();
    this.#flush ??= requestAnimationFrame(this.#onFrame);
  }

  /** The clocks of browser and server differ; the quickest message shows by how much. */
  #noticeLate(lateMs: number): void {
    this.#quickestMs = Math.min(this.#quickestMs, lateMs);
    const isBehind = lateMs - this.#quickestMs > behindMs;
    this.#options.onState(isBehind ? "behind" : "live");
    clearTimeout(this.#quiet);
    if (isBehind) this.#quiet = setTimeout(() => this.#connection && this.#options.onState("live"), caughtUpMs);
  }

  readonly #onFrame = (nowMs: number): void => {
    if (nowMs - this.#flushedAtMs < batchEveryMs) {
      this.#flush = requestAnimationFrame(this.#onFrame);
      return;
    }
    this.#flushedAtMs = nowMs;
    this.#flush = null;
    const batch = this.#batch;
    this.#batch = [];
    this.#options.onBatch(batch);
  };
}
