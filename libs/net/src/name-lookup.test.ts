import assert from "node:assert/strict";
import { test } from "node:test";
import { createManualClock } from "@signalbox/core";
import { createNameLookup } from "./name-lookup.ts";

const failing = (code: string) => async () => Promise.reject(Object.assign(new Error(code), { code }));

/** A resolver that counts its queries. */
function resolverOf(answer: { address: string; ttl: number }[], asked = { count: 0 }) {
  const resolve4 = async () => {
    asked.count++;
    return answer;
  };
  return { asked, resolver: { resolve4, resolve6: failing("ENODATA") } as never };
}

test("an answer is cached for its TTL, from a second to a minute", async () => {
  for (const [ttl, kept] of [
    [0, 1],
    [30, 30],
    [86_400, 60],
  ] as const) {
    const clock = createManualClock();
    const { resolver, asked } = resolverOf([{ address: "192.0.2.1", ttl }]);
    const lookup = createNameLookup({ clock, resolver });
    const [found] = await lookup("one.example");
    assert.deepEqual([found?.address, found?.family], ["192.0.2.1", 4]);
    clock.advance(kept * 1000 - 1);
    await lookup("one.example");
    assert.equal(asked.count, 1);
    clock.advance(2);
    await lookup("one.example");
    assert.equal(asked.count, 2);
  }
});

test("a hundred concurrent lookups of one name query the servers once", async () => {
  const { resolver, asked } = resolverOf([{ address: "192.0.2.1", ttl: 10 }]);
  const lookup = createNameLookup({ clock: createManualClock(), resolver });
  await Promise.all(Array.from({ length: 100 }, () => lookup("one.example")));
  assert.equal(asked.count, 1);
});

test("a name unknown to the servers is looked up in the system; one with silent servers is not", async () => {
  const fallback = async () => [{ address: "192.0.2.9", family: 4 }];
  const of = (code: string) => {
    const resolver = { resolve4: failing(code), resolve6: failing(code) } as never;
    return createNameLookup({ clock: createManualClock(), resolver, fallback });
  };
  assert.deepEqual(await of("ENOTFOUND")("hosts.internal"), await fallback());
  await assert.rejects(of("ETIMEOUT")("silent.example"), { stage: "resolve", code: "EAI_AGAIN" });
});
