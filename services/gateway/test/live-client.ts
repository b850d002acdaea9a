import assert from "node:assert/strict";
import { draft, eventOf } from "@signalbox/contracts";
import { newId } from "@signalbox/core";
import { publishEvents } from "@signalbox/events";
import { eventually, type TestPerson } from "@signalbox/testing";
import { type Client, createClient } from "graphql-ws";
import { WebSocket } from "ws";
import type { Harness } from "./harness.ts";

/** Messages of a subscription so far, and its end. */
export interface Heard {
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  readonly results: any[];
  /** The errors that ended it, or the close of the connection; null while it is open. */
  // biome-ignore lint/suspicious/noExplicitAny: each test asserts the members it reads.
  ended: any;
  stop(): void;
}

export const socketUrl = ({ url }: Harness) => `${url.replace("http", "ws")}/graphql`;

/** By default it closes its connection with its last subscription. */
export function liveClient(gateway: Harness, who: TestPerson | null, { lazy = true } = {}): Client {
  return createClient({
    url: socketUrl(gateway),
    webSocketImpl: WebSocket,
    connectionParams: () => ({ ...who?.headers }),
    retryAttempts: 0,
    lazy,
    onNonLazyError: () => {},
  });
}

/** Subscribes and notes what comes. */
export function listen(
  client: Client,
  query: string,
  { variables, resumeAfter }: { variables?: Record<string, unknown>; resumeAfter?: string } = {},
): Heard {
  const heard: Heard = { results: [], ended: null, stop: () => {} };
  heard.stop = client.subscribe(
    { query, ...(variables && { variables }), ...(resumeAfter && { extensions: { resumeAfter } }) },
    {
      next: (result) => void heard.results.push(result),
      error: (error) => {
        heard.ended = error;
      },
      complete: () => {
        heard.ended ??= "complete";
      },
    },
  );
  return heard;
}

/** Publishes changes of an image, one after the other; their titles tell them apart. */
export async function changeImage(
  { eventLog, context }: Harness,
  accountId: string,
  titles: readonly string[],
  imageId = newId("img", context.clock.nowMs()),
): Promise<string> {
  const drafts = titles.map((title) => {
    const data = { ...eventOf("image.updated").example, id: imageId, title, changed: [title] } as never;
    return draft("image.updated", { subject: imageId, accountId, data });
  });
  await publishEvents({ ...context, eventLog, service: "images" }, drafts);
  return imageId;
}

/** Resolves when the gateway tells of events: a subscription that was just begun hears of no earlier one. */
export async function ready(gateway: Harness, who: TestPerson, heard: Heard): Promise<void> {
  await eventually(async () => {
    if (heard.ended) assert.fail(JSON.stringify(heard.ended));
    if (heard.results.length > 0) return true;
    await changeImage(gateway, who.accountId, ["warm-up"]);
    return false;
  });
}
