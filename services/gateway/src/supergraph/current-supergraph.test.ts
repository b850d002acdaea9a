import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MiB, systemClock } from "@signalbox/core";
import { createLogger, createMetrics, createTracer, environment } from "@signalbox/runtime";
import { buildSchema, getOperationAST, parse } from "graphql";
import { unlimitedWork } from "../../test/test-operations.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { CurrentSupergraph } from "./current-supergraph.ts";
import { openExecution } from "./execution.ts";
import { openSupergraph } from "./open-supergraph.ts";
import type { Supergraph } from "./supergraph.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const context = {
  principal: null,
  requestId: "r-1",
  clientAddress: "127.0.0.1",
  keyed: null,
  fetches: [],
  signal: new AbortController().signal,
};

function asked(query: string, variables: Record<string, unknown> = {}) {
  const document = parse(query);
  const operation = getOperationAST(document) ?? assert.fail();
  return { query, document, operation, variables };
}

const telemetry = () => ({
  log: createLogger({ service: "gateway", instance: "test", level: "silent" }),
  metrics: createMetrics({ service: "gateway" }),
  tracer: createTracer("gateway"),
  clock: systemClock,
});

/** A supergraph that records its calls. */
function noted(sdl: string, execute: Supergraph["execute"] = async () => ({ data: "{}", objects: 1, errors: [] })) {
  const planned: object[] = [];
  const state = { planned, isClosed: false };
  const supergraph: Supergraph = {
    schema: buildSchema(sdl),
    execute,
    async prepare({ query, variables }) {
      planned.push({ query, variables });
      if (query.includes("costly")) throw new Error("takes too long");
    },
    async close() {
      state.isClosed = true;
    },
  };
  return Object.assign(state, { supergraph });
}

const fields = Array.from({ length: 250 }, (_, n) => `f${n}: Int`).join(" ");

test("the 200 busiest operations are planned before another supergraph is active, except invalid ones", async () => {
  const first = noted(`type Query { ${fields} said(text: String): Int old: Int costly: Int }`);
  const next = noted(`type Query { ${fields} said(text: String): Int costly: Int }`);
  const current = new CurrentSupergraph();
  await current.replace(first.supergraph);
  const ofSwitch = "query ($is: Boolean!, $text: String) { f1 @include(if: $is) said(text: $text) }";
  for (let n = 0; n < 250; n++) await current.execute(asked(`{ f${n} }`), context);
  for (let times = 0; times < 4; times++) await current.execute(asked(ofSwitch, { is: true, text: "secret" }), context);
  for (let times = 0; times < 3; times++) await current.execute(asked("{ f249 f1 }"), context);
  for (let times = 0; times < 2; times++) await current.execute(asked("{ costly }"), context);
  await current.execute(asked("{ old }"), context);
  await current.execute(asked("{ old }"), context);
  await current.replace(next.supergraph);
  assert.deepEqual(next.planned.slice(0, 3), [
    { query: ofSwitch, variables: { is: true } },
    { query: "{ f249 f1 }", variables: {} },
    { query: "{ costly }", variables: {} },
  ]);
  assert.equal(next.planned.length, 199, "the invalid one is left out");
  assert.equal(current.schema, next.supergraph.schema);
  assert.deepEqual([first.isClosed, next.isClosed], [true, false]);
});

test("a replaced supergraph is closed after its last operation", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const answer = { data: "{}", objects: 1, errors: [] };
  const first = noted("type Query { a: Int }", () => promise.then(() => answer));
  const next = noted("type Query { a: Int }");
  const current = new CurrentSupergraph();
  await current.replace(first.supergraph);
  const underWay = current.execute(asked("{ a }"), context);
  await current.replace(next.supergraph);
  assert.equal(first.isClosed, false);
  resolve();
  assert.equal(await underWay, answer);
  assert.equal(first.isClosed, true);
  await current.close();
  assert.equal(next.isClosed, true);
});

const composed = await readFile(new URL("../generated/supergraph.graphql", import.meta.url), "utf8");
const openAt = (location: string) => {
  const runner = { defer() {}, every() {} } as unknown as Parameters<typeof openSupergraph>[0]["runner"];
  const clients = new Map(services.map((name) => [name, {} as never]));
  const accessStates = { apply: () => assert.fail() };
  return openSupergraph({
    ...telemetry(),
    ask: {} as never,
    work: unlimitedWork,
    clients,
    accessStates,
    runner,
    location,
  });
};
const services = ["account", "images", "config", "webhook-ingest", "webhook-delivery"];

const bad: Readonly<Record<string, { text: string; why: RegExp }>> = {
  "is no SDL": { text: "type Query {", why: /Syntax Error/ },
  "is no supergraph": { text: "type Query { viewer: String }", why: /Invalid supergraph/ },
  "has a type that is not there": { text: composed.replace("viewer: Account", "viewer: Nobody"), why: /Nobody/ },
  "names a subgraph that is not configured": {
    text: composed.replace('name: "images"', 'name: "elsewhere"'),
    why: /unknown subgraphs: elsewhere/,
  },
  "has access rules without an enforcement here": {
    text: composed.replace(
      '@link(url: "https://specs.apollo.dev/link/v1.0")',
      '$& @link(url: "https://specs.apollo.dev/authenticated/v0.1", for: SECURITY)',
    ),
    why: /authenticated/,
  },
  "has arguments from a context": {
    text: composed.replace(
      '@link(url: "https://specs.apollo.dev/link/v1.0")',
      '$& @link(url: "https://specs.apollo.dev/context/v0.1", for: SECURITY)',
    ),
    why: /context/,
  },
};

test("an unsupported supergraph is refused as a whole", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "signalbox-supergraph-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const file = join(folder, "supergraph.graphql");
  await assert.rejects(openAt(file), /ENOENT/);
  for (const [what, { text, why }] of Object.entries(bad)) {
    await writeFile(file, text);
    await assert.rejects(openAt(file), why, what);
  }
  await writeFile(file, composed);
  await (await openAt(file)).close();
});

/** 1,000 take a quarter of an hour. */
const reloads = Number(environment().SUPERGRAPH_RELOADS ?? 12);

test("memory does not grow with repeated replacements of the supergraph", async (t) => {
  const open = () => openExecution(composed, new Map(), unlimitedWork);
  const current = new CurrentSupergraph();
  const heapMiB = async (times: number) => {
    for (let n = 0; n < times; n++) {
      await current.replace(await open());
      await current.execute(asked("{ __typename }"), context);
    }
    collectGarbage();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { heap: (heapUsed + external) / MiB, rss: rss / MiB };
  };
  const before = await heapMiB(4);
  const after = await heapMiB(reloads);
  await current.close();
  const figures = `${reloads} reloads: heap ${before.heap.toFixed(1)} → ${after.heap.toFixed(1)} MiB, resident ${before.rss.toFixed(0)} → ${after.rss.toFixed(0)} MiB`;
  assert.ok(after.heap < before.heap * 1.1, figures);
  t.diagnostic(figures);
});

function setUp() {
  let nowMs = 0;
  const breaker = new CircuitBreaker({ ...systemClock, steadyMs: () => nowMs });
  return {
    breaker,
    pass: (ms: number) => {
      nowMs += ms;
    },
    end(times: number, end: "answered" | "failed" | "unknown") {
      for (let count = 0; count < times; count++) (breaker.enter() ?? assert.fail("it is open"))(end);
    },
  };
}

test("the breaker opens only when half of twenty fetches fail within ten seconds", () => {
  const few = setUp();
  few.end(19, "failed");
  assert.equal(few.breaker.isOpen, false);
  few.end(1, "failed");
  assert.deepEqual([few.breaker.isOpen, few.breaker.enter()], [true, null]);

  const mixed = setUp();
  mixed.end(11, "answered");
  mixed.end(10, "failed");
  assert.equal(mixed.breaker.isOpen, false);
  mixed.end(1, "failed");
  assert.equal(mixed.breaker.isOpen, true);

  const old = setUp();
  old.end(19, "failed");
  old.pass(10_001);
  old.end(1, "failed");
  assert.equal(old.breaker.isOpen, false);
});

test("one fetch after five seconds decides whether the breaker closes", () => {
  const { breaker, pass, end } = setUp();
  end(20, "failed");
  pass(4_999);
  assert.equal(breaker.enter(), null);
  pass(1);
  const probe = breaker.enter() ?? assert.fail();
  assert.equal(breaker.enter(), null, "one and no more");
  probe("failed");
  assert.equal(breaker.enter(), null);
  pass(5_000);
  end(1, "unknown");
  end(1, "answered");
  assert.equal(breaker.isOpen, false);
  end(19, "failed");
  assert.equal(breaker.isOpen, false, "it counts anew");
});

test("an aborted fetch does not count", () => {
  const { breaker, end } = setUp();
  end(100, "unknown");
  end(19, "failed");
  assert.equal(breaker.isOpen, false);
});
