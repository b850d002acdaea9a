import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Authenticator } from "@signalbox/auth";
import { eventOf } from "@signalbox/contracts";
import { MiB, systemClock } from "@signalbox/core";
import { createLogger, createMetrics } from "@signalbox/telemetry";
import { eventually, testPerson } from "@signalbox/testing";
import { buildASTSchema, parse } from "graphql";
import { openDocuments } from "../documents/documents.ts";
import { operationRequestFrom } from "../documents/operation-request.ts";
import { createOperations } from "../operations/operations.ts";
import { Live } from "./live.ts";
import { LiveCaller } from "./live-caller.ts";
import { createCursors, type Positions } from "./live-cursor.ts";
import type { LiveEvent } from "./live-event.ts";
import type { LiveStream } from "./live-stream.ts";

const sdl = await readFile(new URL("../../schema.graphql", import.meta.url), "utf8");
const schemaOf = (text: string) => buildASTSchema(parse(text), { assumeValidSDL: true });
const place = "signalbox.image.v1/0";
const origin = { requestId: "r-1", clientAddress: "127.0.0.1" };
const ada = testPerson();
const adas = () =>
  new LiveCaller(
    { authenticator: authenticator(), clock: systemClock },
    { credential: null, principal: ada.principal },
    quiet,
  );
const quiet = { change: () => {}, end: () => {} };

const authenticator = (authenticate: () => Promise<unknown> = () => Promise.reject(new Error("not asked"))) =>
  ({ authenticate }) as unknown as Authenticator;

/** A change of an image of hers; its title is its offset. */
const changed = (offset: bigint): LiveEvent => {
  const data = { ...eventOf("image.updated").example, changed: [`${offset}`] };
  const event = { id: `evt-${offset}`, name: "image.updated", accountId: ada.accountId, time: new Date(0), data };
  return { event: event as unknown as LiveEvent["event"], topic: "signalbox.image.v1", place, offset };
};

/** Subscriptions over a feed and a schema that the test moves by hand. */
function setUp() {
  const log = createLogger({ service: "gateway", instance: "test", level: "error" });
  const metrics = createMetrics({ service: "gateway" });
  const state = { schema: schemaOf(sdl), at: 0n, log: [] as LiveEvent[], reloads: 0 };
  const operations = createOperations({
    supergraph: {
      get schema() {
        return state.schema;
      },
      execute: async () => ({ data: "null", objects: 1, errors: [] }),
      close: async () => {},
    },
    ...{ log, metrics, clock: systemClock, documents: openDocuments("apq", null), deadlineMs: 1_000 },
    responseBytesMax: () => MiB,
    costLimits: { estimate: () => 0, refusal: () => null, charge: () => {} },
    documentCacheBytesMax: MiB,
    limits: () => ({
      ...{ depthMax: 16, aliasesMax: 30, rootFieldsMax: 20 },
      directivesMax: 50,
      // What was checked against one schema is not taken for the other.
      tokensMax: 4_000 + state.reloads,
      introspection: true,
    }),
  });
  const cursors = createCursors(() => ["secret"]);
  const live = new Live({
    ...{ operations, cursors, log, metrics, schema: () => state.schema, isServed: () => true },
    feed: {
      isReady: true,
      positionsIn: () => new Map([[place, state.at]]),
      async *replay(after: Positions) {
        yield* state.log.filter(({ offset }) => offset >= (after.get(place) ?? 0n) && offset < state.at);
      },
    },
  });
  const subscribe = (query: string, resumeAfter: string | null = null) =>
    live.subscribe({ ...operationRequestFrom({ query }), resumeAfter }, adas(), origin);
  const publish = (offset: bigint) => {
    state.log.push(changed(offset));
    state.at = offset + 1n;
    live.tell(changed(offset));
  };
  return { live, cursors, state, subscribe, publish };
}

async function take(stream: LiveStream, count: number): Promise<string[]> {
  const titles: string[] = [];
  while (titles.length < count) {
    const { value } = await stream.next();
    const { imageChanged } = (value?.result.data ?? assert.fail()) as { imageChanged: { changed: string[] } };
    titles.push(...imageChanged.changed);
  }
  return titles;
}

test("after a reload a subscription goes on in its place; one that is not valid any more ends with its cursor", async () => {
  const { live, state, subscribe, publish } = setUp();
  const kept = await subscribe("subscription { imageChanged { changed } }");
  const lost = await subscribe("subscription { imageChanged { changed imageId } }");
  publish(0n);
  assert.deepEqual([await take(kept, 1), await take(lost, 1)], [["0"], ["0"]]);
  state.reloads++;
  state.schema = schemaOf(sdl.replace("  imageId: ID!\n", ""));
  live.followSchema();
  await assert.rejects(lost.next(), ({ extensions }: { extensions: Record<string, unknown> }) => {
    assert.equal(extensions.code, "SCHEMA_CHANGED");
    return typeof extensions.cursor === "string";
  });
  publish(1n);
  assert.deepEqual(await take(kept, 1), ["1"]);
});

test("a cursor of an instance that was ahead brings nothing twice", async () => {
  const { state, cursors, subscribe, publish } = setUp();
  state.at = 1n;
  const stream = await subscribe(
    "subscription { imageChanged { changed } }",
    cursors.seal("imageChanged", new Map([[place, 3n]])),
  );
  for (const offset of [1n, 2n, 3n, 4n]) publish(offset);
  assert.deepEqual(await take(stream, 2), ["3", "4"]);
});

test("what comes while older events are told follows them, each once", async () => {
  const { cursors, subscribe, publish } = setUp();
  for (const offset of [0n, 1n, 2n]) publish(offset);
  const stream = await subscribe(
    "subscription { imageChanged { changed } }",
    cursors.seal("imageChanged", new Map([[place, 1n]])),
  );
  publish(3n);
  assert.deepEqual(await take(stream, 3), ["1", "2", "3"]);
});

test("a credential that ends in the moment it is taken is told so, after the caller is there", async () => {
  const reasons: string[] = [];
  const principal = { ...ada.principal, expiresAt: new Date(0) };
  const caller = new LiveCaller(
    { authenticator: authenticator(), clock: systemClock },
    { credential: null, principal },
    { ...quiet, end: ({ code }) => reasons.push(code) },
  );
  assert.deepEqual(reasons, []);
  await eventually(() => reasons.length > 0);
  assert.deepEqual(reasons, ["unauthorized"]);
  caller.close();
});

test("an answer about access that comes late does not undo a later one", async () => {
  const asked: ((principal: unknown) => void)[] = [];
  const caller = new LiveCaller(
    { authenticator: authenticator(() => new Promise((resolve) => asked.push(resolve))), clock: systemClock },
    { credential: { kind: "bearer", value: "x" } as never, principal: ada.principal },
    quiet,
  );
  caller.recheck();
  caller.recheck();
  const [first, second] = asked;
  second?.({ ...ada.principal, state: "suspended" });
  first?.(ada.principal);
  const images = { access: { scope: "images:read", access: "subscribe" } } as const;
  await assert.rejects(caller.admit(images), ({ code }: { code: string }) => code === "forbidden");
  caller.close();
});

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test("10,000 subscriptions that come and go leave the heap within a tenth of what it was", async () => {
  const { live, cursors, subscribe, publish } = setUp();
  publish(0n);
  const after = cursors.seal("imageChanged", new Map([[place, 0n]]));
  let before = 0;
  for (let n = 0; n < 11_000; n++) {
    // What the first ones leave behind is compiled code.
    if (n === 1_000) before = heapBytes();
    const stream = await subscribe("subscription { imageChanged { changed } }", n % 10 === 0 ? after : null);
    await stream.return();
  }
  const now = heapBytes();
  assert.ok(live, "it is in use while the heap is looked at");
  assert.ok(now < 1.1 * before, `the heap grew from ${Math.round(before / MiB)} to ${Math.round(now / MiB)} MiB`);
});
