import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { environment } from "@signalbox/runtime";
import { eventually } from "@signalbox/testing";
import { createCaller } from "./caller.ts";
import { runbookCommands } from "./page-lines.ts";
import { type PlayedSystem, type Probe, playedSystem } from "./played-system.ts";

/** Time for which the pods are left idle. */
const idleMs = Number(environment().IDLE_MINUTES ?? 2) * 60_000;
const timeout = { timeoutMs: 600_000 };

let system: PlayedSystem;

before(async () => {
  system = await playedSystem();
  await system.remove();
  await system.up();
});
after(() => system.remove());

interface Asked {
  readonly times: number;
  readonly failures: number;
  readonly slowestMs: number;
}

/** Probes like the kubelet: every few seconds, and failed after this many failures in a row. */
async function holds(service: string, probe: Probe, isOver: () => boolean): Promise<Asked> {
  const { periodSeconds, failureThreshold } = system.termsOf(service, probe);
  const asked = { times: 0, failures: 0, slowestMs: 0 };
  for (let inARow = 0; !isOver(); ) {
    const startedMs = performance.now();
    const isFine = (await system.asks(service, probe)) === 200;
    asked.times += 1;
    asked.failures += isFine ? 0 : 1;
    asked.slowestMs = Math.max(asked.slowestMs, Math.round(performance.now() - startedMs));
    inARow = isFine ? 0 : inARow + 1;
    assert.ok(inARow < failureThreshold, `${service}: ${probe} failed ${inARow} times in a row`);
    await sleep(periodSeconds * 1_000);
  }
  return asked;
}

async function succeeds(service: string, probe: Probe): Promise<void> {
  const { periodSeconds, failureThreshold } = system.termsOf(service, probe);
  for (let tries = 0; (await system.asks(service, probe)) !== 200; tries++) {
    if (tries >= failureThreshold) assert.fail(`${service}: ${probe}\n${await system.logs(service)}`);
    await sleep(periodSeconds * 1_000);
  }
}

const isReady = (service: string) => async () => (await system.asks(service, "readinessProbe")) === 200;

test("every pod is ready after the jobs, its startup probe passed in time", async () => {
  await Promise.all(["migrate", "topics"].map((job) => system.untilDone(job)));
  await Promise.all(system.services.map((service) => succeeds(service, "startupProbe")));
  for (const service of system.services)
    await eventually(isReady(service), { ...timeout, message: `${service} is ready` });
});

test("a container runs unprivileged within its limits, writing only to its scratch", async () => {
  assert.match(await system.exec("images", ["id", "-u"]), /^1000\n$/);
  await assert.rejects(system.exec("images", ["touch", "/app/file"]), /Read-only file system/);
  await system.exec("images", ["touch", "/scratch/file", "/var/lib/signalbox/file"]);
  const limit = "cat /sys/fs/cgroup/memory.max 2>/dev/null || cat /sys/fs/cgroup/memory/memory.limit_in_bytes";
  assert.equal(await system.exec("account", ["sh", "-c", limit]), `${384 * 2 ** 20}\n`);
});

test("a photograph passes through every pod", async () => {
  const key = await system.exec("account", ["infra/docker/run-service.sh", "first-key"]);
  const urls = new Map<string, string>();
  for (const service of system.services) urls.set(service, await system.urlOf(service));
  const caller = createCaller((service) => urls.get(service) ?? "", key.trim());
  const id = await caller.upload();
  await eventually(() => caller.isRendered(id), timeout);
  const query = "{ viewer { images { edges { node { id status } } } } serverSettings { server { name } } }";
  const { viewer } = (await caller.query(query)) as { viewer: unknown };
  assert.deepEqual(viewer, { images: { edges: [{ node: { id, status: "ready" } }] } });
});

test("the commands of the runbooks answer in a pod", async () => {
  const key = (await system.exec("account", ["infra/docker/run-service.sh", "first-key"])).trim();
  for (const command of await runbookCommands("Kubernetes")) {
    const [, ...inPod] = command.replace("$KEY", key).split(" -- ");
    await system.exec("gateway", inPod.join(" ").split(" "));
  }
});

test("every pod stays alive and ready while nothing happens", async (t) => {
  const end = performance.now() + idleMs;
  const isOver = () => performance.now() > end;
  for (const line of await Promise.all(
    system.services.flatMap((service) =>
      (["livenessProbe", "readinessProbe"] as const).map(async (probe) => {
        const { times, failures, slowestMs } = await holds(service, probe, isOver);
        return `${service} ${probe}: ${times} asked, ${failures} failed, slowest ${slowestMs} ms`;
      }),
    ),
  ))
    t.diagnostic(line);
});

test("a stopping pod is unready but alive until it has drained, within its time", async () => {
  const [first = "", ...others] = system.services;
  const stopped = system.stop(first);
  const isUnready = async () => (await system.asks(first, "readinessProbe")) === 503;
  await eventually(isUnready, { ...timeout, message: `${first} says that it goes` });
  assert.equal(await system.asks(first, "livenessProbe"), 200);
  const codes = await Promise.all([stopped, ...others.map((service) => system.stop(service))]);
  assert.deepEqual(
    codes,
    system.services.map(() => 0),
  );
  for (const service of system.services) {
    const log = await system.logs(service);
    assert.match(log, /"Draining is complete"/, service);
    assert.match(log, /"Everything is closed"/, service);
  }
});
