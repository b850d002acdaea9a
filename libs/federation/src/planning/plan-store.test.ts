import assert from "node:assert/strict";
import { test } from "node:test";
import { GraphQLSchema } from "graphql";
import { type PlanCaller, PlanStore } from "./plan-store.ts";
import { type Planned, PlanRefused } from "./planner.ts";

/** A planner that plans when it is told to. */
class HandPlanner {
  readonly asked: string[] = [];
  #settle: ((planned: Planned) => void) | null = null;

  plan(text: string): Promise<Planned> {
    this.asked.push(text);
    return new Promise((settle) => {
      this.#settle = settle;
    });
  }

  /** Ends the plan in hand, and lets the next one begin. */
  async end(plan: Planned["plan"] = { kind: "QueryPlan" }, processorMs = 1): Promise<void> {
    this.#settle?.({ plan, processorMs });
    await new Promise(setImmediate);
  }
}

function arrange({ waitingMax = 200 } = {}) {
  const planner = new HandPlanner();
  const store = new PlanStore(planner, new GraphQLSchema({}), 1_000_000, waitingMax);
  return { planner, store };
}

const callerOf = (id: string): PlanCaller & { charged: number } => ({
  id,
  charged: 0,
  admit() {},
  charge(ms) {
    this.charged += ms;
  },
});
const [a, b] = [callerOf("a"), callerOf("b")];
const isRefused = (code: PlanRefused["code"]) => (error: unknown) =>
  error instanceof PlanRefused && error.code === code;

test("the only new operation of a caller waits for one of another's hundred at most", async () => {
  const { planner, store } = arrange();
  for (let at = 0; at < 100; at++) void store.planOf(`{a${at}}`, a);
  void store.planOf("{b}", b);
  await planner.end();
  await planner.end();
  assert.deepEqual(planner.asked, ["{a0}", "{a1}", "{b}"]);
});

test("an operation that another caller has asked for last is planned in the turn of the first who has one", async () => {
  const { planner, store } = arrange();
  for (let at = 0; at < 100; at++) void store.planOf(`{a${at}}`, a);
  const [ofA, ofB] = [store.planOf("{a99}", a), store.planOf("{a99}", b)];
  await planner.end();
  await planner.end();
  await planner.end();
  assert.equal(planner.asked.at(2), "{a99}");
  assert.equal(await ofA, await ofB);
});

test("a known plan is there at once, however many new ones wait", async () => {
  const { planner, store } = arrange();
  const first = store.planOf("{known}", a);
  await planner.end();
  for (let at = 0; at < 100; at++) void store.planOf(`{a${at}}`, a);
  assert.equal(store.planOf("{known}", b), await first);
});

test("an operation is planned once for all who wait for it", async () => {
  const { planner, store } = arrange();
  const [first, again, other] = [store.planOf("{x}", a), store.planOf("{x}", a), store.planOf("{x}", b)];
  await planner.end();
  assert.equal(await again, await first);
  assert.equal(await other, await first);
  assert.deepEqual(planner.asked, ["{x}"]);
});

test("a refusal is not remembered", async () => {
  const { planner, store } = arrange();
  const refused = assert.rejects(async () => store.planOf("{x}", a), isRefused("LIMIT_COST"));
  await planner.end(new PlanRefused("LIMIT_COST", "Too hard."));
  await refused;
  const again = store.planOf("{x}", a);
  await planner.end();
  assert.equal(store.planOf("{x}", a), await again);
});

test("the processor time of a plan is charged to the caller in whose turn it was made", async () => {
  const { planner, store } = arrange();
  const [payer, other] = [callerOf("payer"), callerOf("other")];
  const [one, two] = [store.planOf("{x}", payer), store.planOf("{x}", other)];
  await planner.end(undefined, 40);
  assert.equal(await one, await two);
  assert.ok(payer.charged >= 40);
  assert.equal(other.charged, 0);
});

test("a caller whose budget is used up is refused before anything is planned", () => {
  const { planner, store } = arrange();
  const poor: PlanCaller = { ...a, admit: () => assert.fail("used up") };
  assert.throws(() => store.planOf("{x}", poor), /used up/);
  assert.deepEqual(planner.asked, []);
});

test("more operations than may wait cost the caller who has most of them", async () => {
  const { planner, store } = arrange({ waitingMax: 2 });
  void store.planOf("{a0}", a);
  void store.planOf("{a1}", a);
  const last = store.planOf("{a2}", a);
  const refused = assert.rejects(async () => last, isRefused("UNAVAILABLE"));
  const ofB = store.planOf("{b}", b);
  await refused;
  for (let at = 0; at < 3; at++) await planner.end();
  assert.ok(await ofB);
  assert.deepEqual(planner.asked, ["{a0}", "{a1}", "{b}"]);
});

test("whoever waits is refused when the store closes", async () => {
  const { store } = arrange();
  const plans = [store.planOf("{x}", a), store.planOf("{y}", b)];
  store.close();
  for (const plan of plans) await assert.rejects(async () => plan, isRefused("UNAVAILABLE"));
  assert.throws(() => store.planOf("{z}", a), isRefused("UNAVAILABLE"));
});
