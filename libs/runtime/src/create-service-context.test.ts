import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "@signalbox/core";
import { quietLog } from "../test/quiet-log.ts";
import { loadConfiguration } from "./config/load-configuration.ts";
import { createRunner } from "./create-runner.ts";
import { createServiceContext } from "./create-service-context.ts";
import { createHealth } from "./health.ts";
import { runtimeProperties } from "./properties.ts";

const load = (service: string) =>
  loadConfiguration({ service, properties: runtimeProperties, argv: [], environment: {}, directory: null });

function createProcess() {
  const { log, lines } = quietLog();
  return { log, lines, runner: createRunner({ log, clock: systemClock }), health: createHealth({ log }) };
}

test("a change of the log level takes effect while the service runs", () => {
  const { log, lines, runner, health } = createProcess();
  const configuration = load("account");
  const identity = { instance: "account_1", log };
  const context = createServiceContext({ service: "account", configuration, runner, health, shared: false, identity });
  configuration.setOverrides({ revision: 1, changes: { "log.level": { revision: 1, set: true, value: "warn" } } });
  context.log.info("unseen");
  configuration.setOverrides({ revision: 2, changes: {} });
  context.log.info("seen");
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ["seen"],
  );
});

test("an override that would hide warnings is ignored, with the reason; the machine's operator may choose it", () => {
  const { log, lines, runner, health } = createProcess();
  const configuration = load("account");
  createServiceContext({
    service: "account",
    configuration,
    runner,
    health,
    shared: false,
    identity: { instance: "a", log },
  });
  for (const [at, value] of ["error", "silent"].entries()) {
    const change = { revision: at + 1, set: true, value };
    const problems = configuration.setOverrides({ revision: at + 1, changes: { "account.log.level": change } });
    const expected = "one of: debug, info, warn, when it is an override";
    assert.deepEqual(
      problems.map((problem) => [problem.property, problem.expected]),
      [["log.level", expected]],
    );
    log.warn({}, value);
  }
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ["error", "silent"],
  );
  const argv = ["--log.level=silent"];
  const local = { service: "account", properties: runtimeProperties, argv, environment: {}, directory: null };
  assert.equal(loadConfiguration(local).get("log.level"), "silent");
});

test("each restart of a worker is counted once, also when it is read repeatedly", async () => {
  const { runner, health } = createProcess();
  const context = createServiceContext({
    service: "account",
    configuration: load("account"),
    runner,
    health,
    shared: false,
  });
  let runs = 0;
  const again = Promise.withResolvers<void>();
  context.runner.worker("relay", async (signal) => {
    if (++runs === 1) throw new Error("not yet");
    again.resolve();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  await again.promise;
  for (let count = 0; count < 2; count++) {
    assert.match(await context.metrics.text(), /signalbox_worker_restarts_total{worker="relay",service="account"} 1/);
  }
  assert.deepEqual(await runner.stop(1000), []);
});

test("services of one process share the runner but report only their own workers", async () => {
  const { runner, health } = createProcess();
  const [account, images] = (["account", "images"] as const).map((service) =>
    createServiceContext({ service, configuration: load(service), runner, health, shared: true }),
  );
  assert.ok(account && images);
  images.runner.worker("relay", async (signal, beat) => {
    beat();
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  const text = await images.metrics.text();
  assert.match(text, /# TYPE signalbox_worker_restarts counter/);
  assert.match(text, /signalbox_worker_restarts_total{worker="images\/relay",service="images"} 0/);
  assert.doesNotMatch(await account.metrics.text(), /images\/relay/);
  assert.notEqual(account.instance, images.instance);
  assert.deepEqual(await runner.stop(1000), []);
});
