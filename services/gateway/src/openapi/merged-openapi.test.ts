import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError, createManualClock, minutes } from "@signalbox/core";
import type { InternalClient } from "@signalbox/net";
import { createMergedOpenapi } from "./merged-openapi.ts";

function clientThat(answer: () => { status: number; body: unknown }): InternalClient {
  return {
    get: async () => {
      const { status, body } = answer();
      return { status, body: Buffer.from(JSON.stringify(body)) };
    },
    post: () => Promise.reject(new Error("nothing is posted")),
    close: async () => {},
  };
}

const documentWith = (path: string) => ({ openapi: "3.1.0", paths: { [path]: {} }, components: { schemas: {} } });

test("the merged documents of all services are fetched once a minute", async () => {
  let asked = 0;
  const clock = createManualClock();
  const account = clientThat(() => {
    asked++;
    return { status: 200, body: documentWith("/api/account") };
  });
  const collect = createMergedOpenapi({
    clients: new Map([["account", account]]),
    own: documentWith("/graphql"),
    clock,
  });
  const { paths } = (await collect()) as { paths: object };
  assert.deepEqual(Object.keys(paths).sort(), ["/api/account", "/graphql"]);
  await collect();
  assert.equal(asked, 1);
  clock.advance(minutes(2));
  await collect();
  assert.equal(asked, 2);
});

test("during an outage of a service only a kept document is shown", async () => {
  let isAway = true;
  const clock = createManualClock();
  const account = clientThat(() => {
    if (isAway) throw new AppError("unavailable", "away");
    return { status: 200, body: documentWith("/api/account") };
  });
  const collect = createMergedOpenapi({
    clients: new Map([["account", account]]),
    own: documentWith("/graphql"),
    clock,
  });
  await assert.rejects(collect(), { code: "unavailable" });
  isAway = false;
  await collect();
  isAway = true;
  clock.advance(minutes(2));
  const { paths } = (await collect()) as { paths: object };
  assert.ok("/api/account" in paths);
});
