import { ApiError } from "./answers.ts";
import { wait } from "./retry-backoff.ts";

/** An event of a stream: its name, its data, and the cursor after it. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** The place in a stream after which it resumes. */
export interface Position {
  cursor: string | null;
  /** The wait that the service asked for, so that not all of its readers come back at once. */
  retryMs?: number;
}

export interface FollowOptions {
  /** Resumes after this place. Default: from now on. */
  readonly cursor?: string;
  /** Ends the loop. */
  readonly signal?: AbortSignal;
  /** Silence after which the connection counts as broken: the service says something every 15 s. Default: 60,000. */
  readonly silenceMsMax?: number;
  /** Called with true when a connection is open, and with false when it was lost. */
  readonly onConnection?: (isOpen: boolean) => void;
  /** Called with every place that the stream tells, before any event too. */
  readonly onCursor?: ((cursor: string) => void) | undefined;
  /** Waits before a connection is made again, for tests. */
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

type Open = (cursor: string | null, signal: AbortSignal) => Promise<Response>;

const waitMsMax = 30_000;

/**
 * Follows a stream of server-sent events. A connection that breaks off is made again at its position, for as long as it
 * takes, with growing waits; a first one that fails, and a refusal at any time, are thrown.
 */
export async function* followEvents(
  open: Open,
  position: Position,
  { signal, silenceMsMax = 60_000, onConnection, onCursor, wait: pause = wait }: FollowOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  let isFirst = true;
  for (let failures = 0; !signal?.aborted; failures++) {
    const connection = new AbortController();
    const openedAt = Date.now();
    const ends = AbortSignal.any([connection.signal, ...(signal ? [signal] : [])]);
    try {
      const { body } = await open(position.cursor, ends);
      isFirst = false;
      onConnection?.(true);
      if (!body) continue;
      const onSilence = () => connection.abort();
      for await (const event of readEvents(body, position, { onSilence, silenceMsMax, onCursor })) {
        failures = 0;
        yield event;
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (isFirst || isRefusal(error)) throw error;
    } finally {
      connection.abort();
    }
    if (!signal?.aborted) onConnection?.(false);
    if (Date.now() - openedAt > waitMsMax) failures = 0;
    // The first wait is short: most streams end because an instance is replaced.
    const ms = Math.min(Math.max(250 * 2 ** failures, position.retryMs ?? 0), waitMsMax);
    delete position.retryMs;
    await pause(ms / 2 + Math.random() * (ms / 2), signal).catch(() => undefined);
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && ![408, 429].includes(error.status);

/** Longest event, in characters: more than any service sends, and a bound for one that is no Signalbox. */
const eventLengthMax = 16 * 1024 * 1024;

interface ReadOptions extends FollowOptions {
  readonly onSilence: () => void;
  readonly silenceMsMax: number;
}

/** Reads events and moves the position with their ids, those of pings included. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  position: Position,
  { onSilence, silenceMsMax, onCursor }: ReadOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let silence = setTimeout(onSilence, silenceMsMax);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silence);
      text += decoder.decode(value, { stream: true }).replaceAll("\r", "");
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      if (text.length > eventLengthMax) throw new RangeError("An event of the stream is too long.");
      for (const block of blocks) {
        const { id, name, data, retryMs } = readBlock(block);
        if (retryMs !== null) position.retryMs = retryMs;
        // A reader that stops at this event resumes after it, not before.
        if (id !== null) {
          position.cursor = id;
          onCursor?.(id);
        }
        if (data !== null) yield { name, data };
      }
      // While the reader's own work takes its time, nobody reads: silence counts from here.
      silence = setTimeout(onSilence, silenceMsMax);
    }
  } finally {
    clearTimeout(silence);
    await reader.cancel().catch(() => undefined);
  }
}

function readBlock(block: string) {
  let id: string | null = null;
  let retryMs: number | null = null;
  let name = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, field = "", value = ""] = /^([^:]+):? ?(.*)$/.exec(line) ?? [];
    if (field === "id") id = value;
    if (field === "retry" && /^\d+$/.test(value)) retryMs = Number(value);
    if (field === "event") name = value;
    if (field === "data") data.push(value);
  }
  return { id, retryMs, name, data: data.length > 0 ? data.join("\n") : null };
}
