import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { testContext } from "@signalbox/testing";
import type { SigningEndpoint } from "../endpoints/endpoint-directory.ts";
import { type Attempt, AttemptLoop } from "./attempt-loop.ts";
import type { LeasedDelivery } from "./delivery-queue.ts";
import { Lanes } from "./lanes.ts";

const endpointAt = (id: string, url: string) =>
  ({ id, url, accountId: `acc_${id}`, status: "enabled", settings: { max_in_flight: null } }) as SigningEndpoint;
const deliveriesOf = ({ id: endpointId }: SigningEndpoint, count: number) =>
  Array.from(
    { length: count },
    (_, at) => ({ id: `${endpointId}-${at}`, endpointId, body: Buffer.from("{}") }) as LeasedDelivery,
  );

/** A loop whose attempts end on the test's command, with the given result. */
function loopUnderTest(bounds: { readonly inFlightMax: number; readonly inFlightMaxPerHost: number }) {
  const clock = createManualClock(new Date("2026-01-02T03:04:05Z"));
  const underWay: {
    readonly endpointId: string;
    readonly end: (status: number | null, error?: string, phase?: string) => void;
  }[] = [];
  const loop = new AttemptLoop({
    lanes: new Lanes({ ...bounds, inFlightMaxPerEndpoint: 64 }),
    leases: { leaseMs: 90_000, handBack: async () => {} },
    clock,
    log: testContext("webhook-delivery", {}).log,
    attempt: ({ endpointId }) =>
      new Promise((resolve) => {
        const end = (status: number | null, error: string | null = null, phase: string | null = null) =>
          resolve({ result: { status, error }, attempt: { phase } } as Awaited<ReturnType<Attempt>>);
        underWay.push({ endpointId, end });
      }),
    results: { add: async () => {} },
    attemptMsMax: () => 30_000,
    wake: () => {},
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { clock, loop, underWay, settled };
}

test("concurrent attempts at one host are limited over all accounts, and other hosts do not wait", async () => {
  const { loop, underWay, settled } = loopUnderTest({ inFlightMax: 100, inFlightMaxPerHost: 3 });
  const [ada, bob] = [endpointAt("ada", "https://shared.example/a"), endpointAt("bob", "https://shared.example/b")];
  const eve = endpointAt("eve", "https://other.example/");
  for (const endpoint of [ada, bob, eve]) loop.add(endpoint, deliveriesOf(endpoint, 3));
  const atShared = () => underWay.filter(({ endpointId }) => endpointId !== "eve").length;
  assert.deepEqual([atShared(), underWay.length], [3, 6]);
  underWay[0]?.end(200);
  await settled();
  assert.equal(atShared(), 4);
});

test("endpoints that are slow share a quarter of the places", async () => {
  const { clock, loop, underWay, settled } = loopUnderTest({ inFlightMax: 8, inFlightMaxPerHost: 100 });
  const slow = ["ada", "bob", "eve"].map((name) => endpointAt(name, `https://${name}.example/`));
  for (const endpoint of slow) loop.add(endpoint, deliveriesOf(endpoint, 1));
  clock.advance(15_000);
  for (const { end } of underWay.splice(0)) end(null, "deadline");
  await settled();
  for (const endpoint of slow) loop.add(endpoint, deliveriesOf(endpoint, 4));
  assert.equal(underWay.length, 2);
  const quick = endpointAt("joe", "https://joe.example/");
  loop.add(quick, deliveriesOf(quick, 8));
  assert.equal(underWay.length, 8);
});

test("an endpoint that refuses connections rests, and its deliveries go out after that", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { clock, loop, underWay, settled } = loopUnderTest({ inFlightMax: 100, inFlightMaxPerHost: 100 });
  const endpoint = endpointAt("ada", "https://ada.example/");
  loop.add(endpoint, deliveriesOf(endpoint, 60));
  for (const { end } of underWay.splice(0, 9)) {
    end(null, "connection_refused", "connect");
    await settled();
  }
  const startedBefore = underWay.length;
  for (const { end } of underWay.splice(0)) end(null, "connection_refused", "connect");
  await settled();
  assert.equal(underWay.length, 0, "nothing starts while it rests");
  clock.advance(100);
  t.mock.timers.tick(100);
  await settled();
  assert.equal(underWay.length, 1, "then one attempt is made");
  underWay.splice(0)[0]?.end(200);
  await settled();
  assert.ok(startedBefore < 16 && underWay.length > 0, "an answer lets the others go out");
});
