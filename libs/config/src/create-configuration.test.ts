import assert from "node:assert/strict";
import { test } from "node:test";
import { defineProperties, loadConfiguration } from "./index.ts";

const common = { secrecy: "internal", effect: "Something." } as const;
const properties = defineProperties({
  "page.size": { ...common, type: "integer", default: 20, max: 100, reload: "live" },
  "log.level": { ...common, type: "string", default: "info", reload: "live" },
  "pool.size": { ...common, type: "integer", default: 10, reload: "restart" },
  "outbound.allow": { ...common, type: "list", default: [], reload: "live", local: true },
  "internal.token": { ...common, type: "string", default: "first", secrecy: "secret", reload: "live" },
});

function load(argv: string[] = []) {
  return loadConfiguration({ service: "config", properties, argv, environment: {}, directory: null });
}

test("a live change reaches its subscribers once, and only when the value differs", () => {
  const configuration = load();
  const heard: unknown[] = [];
  const stop = configuration.onChange("page.size", (value, previous) => heard.push([value, previous]));
  configuration.setOverrides({ "page.size": 50 }, "1");
  configuration.setOverrides({ "page.size": 50, "log.level": "debug" }, "2");
  configuration.setOverrides({}, "3");
  stop();
  configuration.setOverrides({ "page.size": 60 }, "4");
  assert.deepEqual(heard, [
    [50, 20],
    [20, 50],
  ]);
  assert.equal(configuration.get("page.size"), 60);
  assert.equal(configuration.revision, "4");
});

test("the command line outvotes an override, and a prefixed override beats both", () => {
  const configuration = load(["--page.size=30"]);
  configuration.setOverrides({ "page.size": 50 }, "1");
  assert.equal(configuration.get("page.size"), 30);
  configuration.setOverrides({ "config.page.size": 60 }, "2");
  assert.equal(configuration.get("page.size"), 60);
  assert.equal(configuration.sourceOf("page.size"), "overrides");
});

test("secrets and local properties take no override, a wrong value is refused, the rest applies", () => {
  const configuration = load();
  const problems = configuration.setOverrides(
    { "internal.token": "second", "outbound.allow": ["*"], "page.size": "50", "log.level": "debug", "images.other": 1 },
    "7",
  );
  assert.deepEqual(
    problems.map(({ property, value }) => [property, value]),
    [
      ["internal.token", '"******"'],
      ["outbound.allow", '["*"]'],
      ["page.size", '"50"'],
    ],
  );
  assert.equal(configuration.get("internal.token"), "first");
  assert.deepEqual(configuration.get("outbound.allow"), []);
  assert.equal(configuration.get("log.level"), "debug");
});

test("a property that needs a restart keeps its value and is named as pending", () => {
  const configuration = load();
  configuration.setOverrides({ "pool.size": 20 }, "1");
  assert.equal(configuration.get("pool.size"), 10);
  assert.equal(configuration.sourceOf("pool.size"), "defaults");
  assert.deepEqual(configuration.pendingRestart(), ["pool.size"]);
  configuration.setOverrides({}, "2");
  assert.deepEqual(configuration.pendingRestart(), []);
});

test("overrides known before the start reach properties that need one", () => {
  const overrides = { values: { "pool.size": 20 }, revision: "9" };
  const configuration = loadConfiguration({
    service: "config",
    properties,
    argv: [],
    environment: {},
    directory: null,
    overrides,
  });
  assert.equal(configuration.get("pool.size"), 20);
  assert.equal(configuration.revision, "9");
});

test("one subscriber that throws does not keep the change from the others", () => {
  const configuration = load();
  let heard = 0;
  configuration.onChange("page.size", () => {
    throw new Error("broken subscriber");
  });
  configuration.onChange("page.size", (value) => {
    heard = value;
  });
  assert.throws(() => configuration.setOverrides({ "page.size": 42 }, "1"), AggregateError);
  assert.equal(heard, 42);
});

test("subscribing to a property that never changes is refused", () => {
  assert.throws(() => load().onChange("pool.size", () => {}), /does not change while running/);
});
