import { setTimeout as sleep } from "node:timers/promises";
import type { LogRecord, Subscriber } from "../evidence.ts";
import type { Scene } from "../scene.ts";

/** Event types that `imageChanged` sends, by the published schema. */
const toldTypes: readonly string[] = [
  "image.created",
  "image.updated",
  "image.deleted",
  "image.rendition_ready",
  "image.processing_failed",
];

const query = "subscription { imageChanged { event { id } cursor } }";
const pauseMs = 100;
/** A gateway that came back last reads the log from its end: the rest of the round is told by then. */
const caughtUpMs = 60_000;

interface Following {
  readonly account: string;
  readonly told: string[];
  listeningSince: number;
}

/** Subscribers to the images of each account, who come back after every break with their last event id, as browsers do. */
export class Subscribers {
  readonly #each: Following[] = [];
  readonly #ended = new AbortController();
  readonly #following: Promise<unknown>;

  constructor(scene: Scene) {
    const following = scene.members.map(({ account, key }) => {
      const one: Following = { account, told: [], listeningSince: Number.POSITIVE_INFINITY };
      this.#each.push(one);
      return this.#follow(scene, key, one);
    });
    this.#following = Promise.all(following);
  }

  async #follow({ system, history }: Scene, key: string, one: Following): Promise<void> {
    const { signal } = this.#ended;
    const url = `${system.baseUrl}/graphql?query=${encodeURIComponent(query)}`;
    let cursor: string | null = null;
    while (!signal.aborted) {
      const headers = { "x-api-key": key, accept: "text/event-stream", ...(cursor && { "last-event-id": cursor }) };
      try {
        const response = await fetch(url, { headers, signal });
        const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
        for await (const { id, result } of isStream ? messagesOf(response) : []) {
          // The first byte says that whatever changes from now on is told.
          one.listeningSince = Math.min(one.listeningSince, history.now());
          const told = result?.data?.imageChanged;
          if (result && !told) throw new Error(JSON.stringify(result));
          if (told) one.told.push(told.event.id);
          // Before the first event too: one that is cut off then would begin at the newest event otherwise.
          cursor = id ?? cursor;
        }
        if (!isStream) await response.bytes();
      } catch {
        // A break, or a subscription that ended: it goes on after the last message.
      }
      await sleep(pauseMs, undefined, { signal }).catch(() => {});
    }
  }

  /** Waits until everybody has heard the newest event of each image, and gives what each has heard. */
  async finish(log: readonly LogRecord[]): Promise<readonly Subscriber[]> {
    const giveUpAt = performance.now() + caughtUpMs;
    const isBehind = () =>
      this.#each.some(({ account, told }) => {
        const newest = new Map(
          log.filter((one) => one.accountId === account && isTold(one)).map(({ key, eventId }) => [key, eventId]),
        );
        return [...newest.values()].some((eventId) => !told.includes(eventId));
      });
    while (isBehind() && performance.now() < giveUpAt) await sleep(pauseMs);
    await this.close();
    return this.#each.map(({ account, told, listeningSince }) => ({ account, told, listeningSince }));
  }

  async close(): Promise<void> {
    this.#ended.abort();
    await this.#following;
  }
}

/** Returns true for a record that subscribers to images get. */
export const isTold = ({ topic, type }: LogRecord): boolean =>
  topic === "signalbox.image.v1" && toldTypes.includes(type);

interface Message {
  readonly id: string | undefined;
  /** Null for what keeps the stream open. */
  // biome-ignore lint/suspicious/noExplicitAny: the reader takes the members that it asked for.
  readonly result: any;
}

/** The messages of an event stream, each with its event id. */
async function* messagesOf(response: Response): AsyncIterable<Message> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response.body ?? []) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = /^data: (.+)$/m.exec(block)?.[1];
      yield { id: /^id: (.+)$/m.exec(block)?.[1], result: data === undefined ? null : JSON.parse(data) };
    }
  }
}
