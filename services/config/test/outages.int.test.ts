import assert from "node:assert/strict";
import { test } from "node:test";
import { type Clock, createManualClock, seconds } from "@signalbox/core";
import { createTcpProxy, eventually, type TcpProxy, testDatabase, testPerson } from "@signalbox/testing";
import { type Harness, routes, setProperty, startConfig } from "./harness.ts";

const operator = testPerson();

/** Starts the service with a proxy that can cut its connection to one database. */
async function behindProxy(
  property: "database.url" | "events.url",
  work: (config: Harness, proxy: TcpProxy) => Promise<void>,
  clock?: Clock,
) {
  const database = await testDatabase();
  const proxy = await createTcpProxy({ port: Number(new URL(database.url).port) });
  const config = await startConfig({ [property]: proxy.urlFor(database.url) }, clock);
  try {
    await work(config, proxy);
  } finally {
    await proxy.accept().catch(() => {});
    await config.close();
    await proxy.close();
    await database.close();
  }
}

const set = (config: Harness, name: string, value: unknown) =>
  config.graphql(operator, setProperty, { input: { name, value, expectedRevision: "0" } });

test("during an outage of the database everything can still be read, and changes fail until it is back", async () => {
  await behindProxy("database.url", async (config, proxy) => {
    await proxy.refuse();
    for (const path of routes) assert.equal((await config.send(operator, path)).status, 200, path);
    const refused = await set(config, "server.name", "Harbour");
    assert.equal(refused.errors[0].extensions.code, "UNAVAILABLE");
    assert.ok(!JSON.stringify(refused).includes("127.0.0.1"));
    await proxy.accept();
    await eventually(async () => (await set(config, "server.name", "Harbour")).data?.setProperty?.override ?? null);
  });
});

test("during an outage of the log the last good configuration stays, and a change made meanwhile arrives afterwards", async () => {
  await behindProxy("events.url", async (config, proxy) => {
    await set(config, "limits.maxPageSize", 60);
    const shown = async () => (await config.send(operator, "/api/v1/config/")).body;
    await eventually(async () => (await shown()).limits.maxPageSize === 60);
    await proxy.refuse();
    assert.ok((await set(config, "defaults.pageSize", 30)).data.setProperty.override, "the event waits in the outbox");
    const { limits, defaults } = await shown();
    assert.deepEqual([limits.maxPageSize, defaults.pageSize], [60, 20]);
    await proxy.accept();
    await eventually(async () => (await shown()).defaults.pageSize === 30);
  });
});

test("an answer that may be older than a minute shows its age, until the log is back", async () => {
  const clock = createManualClock(new Date());
  await behindProxy(
    "events.url",
    async (config, proxy) => {
      const ages = () =>
        Promise.all(routes.map(async (path) => (await config.send(operator, path)).headers.get("x-configuration-age")));
      assert.deepEqual(await ages(), [null, null, null, null]);
      await proxy.refuse();
      // A read that was under way may end after the clock was moved.
      await eventually(async () => {
        clock.advance(seconds(61));
        return (await ages()).every((age) => Number(age) >= 60);
      });
      await proxy.accept();
      await eventually(async () => (await ages()).every((age) => age === null));
    },
    clock,
  );
});

test("overrides survive a restart, also of a service whose log only has old records of them", async () => {
  const config = await startConfig();
  try {
    await set(config, "server.name", "Harbour");
    await config.changesOf("server.name", 1);
    const restarted = await config.another();
    assert.equal((await restarted.send(null, "/api/v2/settings/")).body.server.name, "Harbour");
    await restarted.close();
  } finally {
    await config.close();
  }
});
