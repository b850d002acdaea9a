import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { afterEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Probe, startProbe } from "../test/start-probe.ts";

interface Drained {
  readonly in_hand: Readonly<Record<string, number>>;
  readonly parts_ms: Readonly<Record<string, number>>;
  readonly duration_ms: number;
}

const started: Probe[] = [];
const start = (...argv: string[]) => {
  const probe = startProbe(argv);
  started.push(probe);
  return probe;
};
afterEach(() => {
  for (const { child } of started.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
});

test("SIGTERM finishes running requests, closes everything in reverse order and exits 0", async () => {
  const probe = start();
  const { http } = await probe.ready();
  const answer = fetch(`${http}/?wait=3000`);
  await probe.line(({ wait_ms }) => wait_ms === 3000);
  probe.child.kill("SIGTERM");
  const response = await answer;
  assert.deepEqual(await response.json(), { took: true });
  assert.equal(response.headers.get("connection"), "close");
  const { code } = await probe.exit;
  assert.equal(code, 0);
  const order = probe.lines.flatMap(
    ({ closed, ended, msg }) => closed ?? ended ?? (msg === "Everything is closed" ? "all" : []),
  );
  assert.deepEqual(order, ["ticker", "third", "second", "first", "all"]);
  const drained = probe.lines.find(({ msg }) => msg === "Draining is complete") as Drained | undefined;
  assert.equal(drained?.in_hand["http listener"], 1, "the request that the drain waited for");
  assert.ok(
    drained.parts_ms["http listener"] !== undefined && drained.duration_ms >= drained.parts_ms["http listener"],
  );
});

test("during the grace period an unready process still works while it sends clients away", async () => {
  const probe = start("--shutdown.grace=5000");
  const { http, management } = await probe.ready();
  assert.equal((await fetch(`${management}/management/health/ready`)).status, 200);
  probe.child.kill("SIGINT");
  await probe.line(({ msg }) => msg === "Stopping");
  const ready = await fetch(`${management}/management/health/ready`);
  assert.equal(ready.status, 503);
  assert.equal(((await ready.json()) as { checks: { process: { reason: string } } }).checks.process.reason, "stopping");
  assert.equal((await fetch(`${management}/management/health/live`)).status, 200);
  const answer = await fetch(http);
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("connection"), "close");
  assert.equal((await probe.exit).code, 0);
  await assert.rejects(fetch(http));
});

test("a client that changes the instance on request loses no answer", async () => {
  const probe = start("--shutdown.grace=5000");
  const { http } = await probe.ready();
  let answers = 0;
  const askUntilSentAway = async () => {
    for (let isSentAway = false; !isSentAway; answers++) {
      const response = await fetch(`${http}/?wait=5`);
      assert.deepEqual(await response.json(), { took: true });
      isSentAway = response.headers.get("connection") === "close";
    }
  };
  const clients = Promise.all(Array.from({ length: 8 }, askUntilSentAway));
  await probe.line(({ wait_ms }) => wait_ms === 5);
  probe.child.kill("SIGTERM");
  await clients;
  assert.ok(answers >= 8);
  assert.equal((await probe.exit).code, 0);
});

test("a service that takes requests has given back the memory of its start", async () => {
  const { line, ready } = start("--probe.behaviour=leave-garbage");
  const { http } = await ready();
  await fetch(http);
  const { heap_bytes } = await line((entry) => "heap_bytes" in entry);
  assert.ok((heap_bytes as number) < 128 * 2 ** 20, `${heap_bytes} bytes; the start left 256 MiB`);
});

test("a part still open at the deadline is named, with exit code 1", async () => {
  const probe = start("--probe.behaviour=hang-on-close,hang-on-drain", "--shutdown.deadline=600");
  await probe.ready();
  probe.child.kill("SIGTERM");
  assert.equal((await probe.exit).code, 1);
  const open = probe.lines.find(({ msg }) => msg === "The shutdown deadline passed with parts still open")
    ?.open as string[];
  assert.ok(open.includes("the drain that hangs") && open.includes("the one that hangs"), String(open));
  assert.ok(probe.lines.some(({ msg }) => msg === "Running work was not finished in time"));
});

test("a second signal ends the process at once", async () => {
  const probe = start("--probe.behaviour=hang-on-drain", "--shutdown.deadline=60000");
  await probe.ready();
  probe.child.kill("SIGINT");
  await probe.line(({ msg }) => msg === "Stopping");
  probe.child.kill("SIGINT");
  assert.equal((await probe.exit).code, 130);
});

test("a failed start closes what was opened before it exits 1", async () => {
  const probe = start("--probe.behaviour=fail-start");
  assert.equal((await probe.exit).code, 1);
  assert.ok(probe.lines.some(({ msg }) => msg === "The start failed"));
  assert.deepEqual(
    probe.lines.flatMap(({ closed }) => closed ?? []),
    ["third", "second", "first"],
  );
});

test("a port in use stops the start with the name of the property to change", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as { port: number };
  const probe = start(`--http.port=${port}`);
  assert.equal((await probe.exit).code, 1);
  taken.close();
  const failure = probe.lines.find(({ msg }) => msg === "The start failed")?.error as { message: string };
  assert.match(
    failure.message,
    new RegExp(`port ${port} on 127\\.0\\.0\\.1 is in use; set http\\.port to a free one$`),
  );
});

test("--help prints how the process is started", async () => {
  const main = fileURLToPath(new URL("../test/probe-main.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [main, "--help"]);
  assert.match(stdout, /^Usage: account \[--<property>=<value> …\]\n/);
});

test("an invalid configuration stops the start with every problem on standard error", async () => {
  const { code, errors } = await start("--http.prt=1", "--log.level=loud").exit;
  assert.equal(code, 1);
  assert.match(errors, /Unknown property "http\.prt"\. Did you mean "http\.port"\?/);
  assert.match(errors, /log\.level \(from --log\.level\) is "loud": expected one of: debug, info, warn, error, silent/);
});

test("an unhandled rejection drains the process before it exits 1", async () => {
  const probe = start("--probe.behaviour=throw-later");
  assert.equal((await probe.exit).code, 1);
  assert.ok(probe.lines.some(({ msg }) => msg === "Uncaught exception"));
  assert.ok(probe.lines.some(({ closed }) => closed === "first"));
});

test("an unhandled rejection in a request ends that request alone", async () => {
  const probe = start();
  const { http, management } = await probe.ready();
  assert.equal((await fetch(`${http}/?reject`)).status, 500);
  const metrics = await (await fetch(`${management}/management/metrics`)).text();
  assert.match(metrics, /^signalbox_unhandled_rejections_total\{.*\} 1$/m);
  probe.child.kill("SIGTERM");
  assert.equal((await probe.exit).code, 0);
});
