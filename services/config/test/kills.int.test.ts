import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  createSender,
  createSubgraphClient,
  eventually,
  freePort,
  internalToken,
  type OwnEngine,
  startAccountStandIn,
  startEngine,
  startProcess,
  type TestProcess,
  testContext,
  testEventLog,
  testPerson,
} from "@signalbox/testing";
import { setProperty } from "./harness.ts";

const script = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const operator = testPerson();
const name = "limits.maxPageSize";
const [first, last] = [101, 300];
const recoveryMs = 120_000;

/** A config service in a process of its own, restarted with the same settings. */
interface Instance {
  readonly current: TestProcess;
  readonly send: ReturnType<typeof createSender>;
  readonly graphql: ReturnType<typeof createSubgraphClient>;
  restart(): Promise<void>;
}

async function startInstance(
  opened: AsyncDisposableStack,
  properties: Readonly<Record<string, string>>,
): Promise<Instance> {
  const [http, internal, management] = [await freePort(), await freePort(), await freePort()];
  const copies = await mkdtemp(join(tmpdir(), "signalbox-kills-"));
  opened.defer(() => rm(copies, { recursive: true, force: true }));
  const own = { "http.port": http, "internal.port": internal, "management.server.port": management };
  const given = Object.entries({ ...properties, ...own, "config.copy-directory": copies });
  const start = () =>
    startProcess(
      script,
      given.map(([property, value]) => `--${property}=${value}`),
    );
  const ready = () => current.waitForOutput(/The service is ready/, recoveryMs);
  let current = start();
  opened.defer(async () => void (await current.kill()));
  await ready();
  return {
    get current() {
      return current;
    },
    send: createSender(`http://127.0.0.1:${http}`),
    graphql: createSubgraphClient(`http://127.0.0.1:${internal}`),
    async restart() {
      await current.kill();
      current = start();
      await ready();
    },
  };
}

async function startScene(opened: AsyncDisposableStack, logOn: "postgres" | "kafka") {
  const own = async (engine: typeof logOn) => opened.adopt(await startEngine(engine), (each) => each.close());
  const [database, log] = [await own("postgres"), await own(logOn)];
  const account = opened.adopt(await startAccountStandIn(), (each) => each.close());
  const context = opened.adopt(testContext("config", {}), (each) => each.close());
  await testEventLog(log.url, context);
  const databaseUrl = new URL(database.url);
  databaseUrl.pathname = "/signalbox_config";
  const properties = {
    ...{ "database.url": databaseUrl.href, "events.url": log.url, "account.internal-url": account.url },
    ...{ "cache.url": "memory:", "internal.token": internalToken, "http.base-url": "https://signalbox.example" },
  };
  const [writer, follower] = [await startInstance(opened, properties), await startInstance(opened, properties)];
  return { database, log, writer, follower };
}

interface Override {
  readonly name: string;
  readonly value: number;
  readonly revision: string;
}

/** Changes the property to each value in turn. Looks for a change of unknown outcome first. */
async function changeToEach({ graphql }: Instance, beforeEach: (value: number) => Promise<void>): Promise<void> {
  for (let value = first; value <= last; value++) {
    await beforeEach(value);
    await eventually(
      async () => {
        const { data } = await graphql(operator, "{ properties { name override { name value revision } } }");
        const found: { override: Override | null } = data.properties.find((each: Override) => each.name === name);
        if (found.override?.value === value) return true;
        const input = { name, value, expectedRevision: found.override?.revision ?? "0" };
        return (await graphql(operator, setProperty, { input })).data.setProperty.override?.value === value;
      },
      { timeoutMs: recoveryMs, message: `the property becomes ${value}` },
    );
  }
}

interface Page {
  readonly edges: readonly {
    readonly node: { readonly revision: string; readonly after: { readonly value: number } };
  }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
}

/** Lists every change in history, oldest first. */
async function historyOf({ graphql }: Instance): Promise<{ revision: string; value: number }[]> {
  const found: { revision: string; value: number }[] = [];
  for (let after: string | null = null; ; ) {
    const query = `query($after: String) { propertyHistory(name: "${name}", first: 100, after: $after) {
      edges { node { revision after { value } } } pageInfo { hasNextPage endCursor } } }`;
    const { edges, pageInfo }: Page = (await graphql(operator, query, { after })).data.propertyHistory;
    for (const { node } of edges) found.push({ revision: node.revision, value: node.after.value });
    if (!pageInfo.hasNextPage) return found.reverse();
    after = pageInfo.endCursor;
  }
}

for (const logOn of ["postgres", "kafka"] as const) {
  test(`config, log on ${logOn} and database are killed during 200 changes: none is lost or repeated`, async () => {
    await using opened = new AsyncDisposableStack();
    const { database, log, writer, follower } = await startScene(opened, logOn);
    const again = async (engine: OwnEngine) => {
      await engine.kill();
      await engine.restart();
    };
    const kills: Readonly<Record<number, () => Promise<unknown>>> = {
      120: () => writer.restart(),
      160: () => again(log),
      200: () => again(database),
      // Kafka takes long to restart, and engines killed together are alike.
      ...(logOn === "postgres" && {
        240: () => Promise.all([again(database), writer.restart()]),
        270: () => Promise.all([again(log), writer.restart()]),
      }),
    };
    let killed: Promise<unknown> = Promise.resolve();
    await changeToEach(writer, async (value) => {
      const kill = kills[value];
      if (kill === undefined) return;
      // Previously killed engines must be back, or two processes would start the same engine.
      await killed;
      killed = kill();
      killed.catch(() => {}); // awaited below
    });
    await killed;

    const history = await historyOf(writer);
    const values = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    assert.deepEqual(
      history.map(({ value }) => value),
      values,
      "each was made once, in order",
    );
    const newest = history.at(-1)?.revision;
    assert.deepEqual(newest, String(values.length), "each is a revision of its own");
    for (const { send, graphql } of [writer, follower]) {
      await eventually(
        async () => {
          assert.equal((await send(operator, "GET", "/api/v1/status/config")).body.revision, newest);
          // Killed instances still delay the published value until their reports expire.
          const { data } = await graphql(operator, "{ properties { name value } }");
          assert.equal(data.properties.find((each: Override) => each.name === name).value, last);
        },
        { timeoutMs: recoveryMs },
      );
    }
    const lines = follower.current.stdout.matchAll(/^.*"revision":(\d+).*configuration overrides applied.*$/gm);
    const applied = [...lines].map(([, revision]) => Number(revision)).filter((revision) => revision > 0);
    assert.ok(applied.length > 0);
    assert.deepEqual(
      applied,
      [...new Set(applied)].sort((a, b) => a - b),
      "none is applied twice, and none late",
    );
  });
}
