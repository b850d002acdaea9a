import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { Authenticator, Principal } from "@signalbox/auth";
import { eventOf } from "@signalbox/contracts";
import { systemClock } from "@signalbox/core";
import { testPerson } from "@signalbox/testing";
import { buildASTSchema, parse } from "graphql";
import { operationRequestFrom } from "../src/documents/operation-request.ts";
import { Live } from "../src/live/live.ts";
import { LiveCaller } from "../src/live/live-caller.ts";
import { Cursors, type Positions } from "../src/live/live-cursor.ts";
import type { LiveEvent } from "../src/live/live-event.ts";
import type { LiveStream } from "../src/live/live-stream.ts";
import { testOperations } from "./test-operations.ts";

export const sdl = await readFile(new URL("../subgraph.graphql", import.meta.url), "utf8");
/** The same without a field of `ImageChange`. */
export const withoutImageId = (text: string) => text.replace('  "The id of the image."\n  imageId: ID!\n', "");
export const schemaOf = (text: string) => buildASTSchema(parse(text), { assumeValidSDL: true });
export const place = "signalbox.image.v1/0";
export const ada = testPerson();
export const quiet = { change: () => {}, end: () => {} };

export const authenticator = (authenticate: () => Promise<unknown> = () => Promise.reject(new Error("not asked"))) =>
  ({ authenticate }) as unknown as Authenticator;

export const callerOf = (principal: Principal) =>
  new LiveCaller(
    { authenticator: authenticator(), clock: systemClock },
    { credential: null, principal, requestId: "r-1", clientAddress: "192.0.2.1" },
    quiet,
  );

/** A change of an image of hers; its title is its offset. */
const changed = (offset: bigint): LiveEvent => {
  const data = { ...eventOf("image.updated").example, changed: [`${offset}`] };
  const event = { id: `evt-${offset}`, name: "image.updated", accountId: ada.accountId, time: new Date(0), data };
  return { event: event as unknown as LiveEvent["event"], topic: "signalbox.image.v1", place, offset };
};

/** Subscriptions over a feed and a schema that the test moves by hand. */
export function setUp({ deadlineMs = 1_000 } = {}) {
  const state = { schema: schemaOf(sdl), at: 0n, log: [] as LiveEvent[], reloads: 0, fetches: 0 };
  /** Holds a fetch back until the test lets it go. */
  const subgraph = { isBack: Promise.resolve() };
  /** Replays that have begun and wait for the test, while it wants them to. */
  const replays = { wait: false, waiting: [] as (() => void)[] };
  const supergraph = {
    get schema() {
      return state.schema;
    },
    async execute() {
      state.fetches++;
      await subgraph.isBack;
      return { data: "null", objects: 1, errors: [] };
    },
    close: async () => {},
  };
  const { operations, log, metrics } = testOperations({
    supergraph,
    deadlineMs,
    // What was checked against one schema is not taken for the other.
    limits: () => ({ tokensMax: 4_000 + state.reloads }),
  });
  const cursors = new Cursors(() => ["secret"]);
  const live = new Live({
    operations,
    cursors,
    log,
    metrics,
    schema: () => state.schema,
    isServed: () => true,
    feed: {
      isReady: true,
      positionsIn: () => new Map([[place, state.at]]),
      async *replay(after: Positions) {
        if (replays.wait) await new Promise<void>((resolve) => replays.waiting.push(resolve));
        yield* state.log.filter(({ offset }) => offset >= (after.get(place) ?? 0n) && offset < state.at);
      },
    },
  });
  const subscribeAs = (caller: LiveCaller, query: string, resumeAfter: string | null = null) =>
    live.subscribe({ ...operationRequestFrom({ query }), resumeAfter }, caller);
  const subscribe = (query: string, resumeAfter: string | null = null, who: Principal = ada.principal) =>
    subscribeAs(callerOf(who), query, resumeAfter);
  const publish = (offset: bigint) => {
    state.log.push(changed(offset));
    state.at = offset + 1n;
    return live.tell(changed(offset));
  };
  return { live, cursors, state, subgraph, replays, subscribe, subscribeAs, publish };
}

export async function take(stream: LiveStream, count: number): Promise<string[]> {
  const titles: string[] = [];
  while (titles.length < count) {
    const { value } = await stream.next();
    const { imageChanged } = (value?.result.data ?? assert.fail()) as { imageChanged: { changed: string[] } };
    titles.push(...imageChanged.changed);
  }
  return titles;
}
