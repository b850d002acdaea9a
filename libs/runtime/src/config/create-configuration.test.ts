import assert from "node:assert/strict";
import { test } from "node:test";
import { defineProperties, loadConfiguration, type OverrideSet } from "../index.ts";

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

/** Overrides set together by one revision. */
const at = (revision: number, values: Record<string, unknown>): OverrideSet => ({
  revision,
  changes: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { revision, set: true, value }])),
});

test("subscribers hear a live change once, only when the value differs", () => {
  const configuration = load();
  const received: unknown[] = [];
  const stop = configuration.onChange("page.size", (value, previous) => received.push([value, previous]));
  configuration.setOverrides(at(1, { "page.size": 50 }));
  configuration.setOverrides(at(2, { "page.size": 50, "log.level": "debug" }));
  configuration.setOverrides(at(3, {}));
  stop();
  configuration.setOverrides(at(4, { "page.size": 60 }));
  assert.deepEqual(received, [
    [50, 20],
    [20, 50],
  ]);
  assert.equal(configuration.get("page.size"), 60);
  assert.equal(configuration.revision, 4);
});

test("a prefixed override beats the command line, which beats a plain override", () => {
  const configuration = load(["--page.size=30"]);
  configuration.setOverrides(at(1, { "page.size": 50 }));
  assert.equal(configuration.get("page.size"), 30);
  configuration.setOverrides(at(2, { "config.page.size": 60 }));
  assert.equal(configuration.get("page.size"), 60);
  assert.equal(configuration.sourceOf("page.size"), "overrides");
});

test("only valid overrides of properties that allow them apply", () => {
  const configuration = load();
  const problems = configuration.setOverrides(
    at(7, {
      "internal.token": "second",
      "outbound.allow": ["*"],
      "page.size": "50",
      "log.level": "debug",
      "images.other": 1,
    }),
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

test("a change to a property that needs a restart is pending, not applied", () => {
  const configuration = load();
  configuration.setOverrides(at(1, { "pool.size": 20 }));
  assert.equal(configuration.get("pool.size"), 10);
  assert.equal(configuration.sourceOf("pool.size"), "defaults");
  assert.deepEqual(configuration.pendingRestart(), ["pool.size"]);
  configuration.setOverrides(at(2, {}));
  assert.deepEqual(configuration.pendingRestart(), []);
});

test("overrides before the start reach properties that need a restart; later ones are pending", () => {
  const configuration = load();
  assert.deepEqual(configuration.startWith(at(9, { "pool.size": 20 })), []);
  assert.equal(configuration.get("pool.size"), 20);
  assert.equal(configuration.sourceOf("pool.size"), "overrides");
  assert.equal(configuration.revision, 9);
  configuration.setOverrides({
    revision: 17,
    changes: {
      "pool.size": { revision: 16, set: true, value: 30 },
      "page.size": { revision: 17, set: true, value: 50 },
    },
  });
  assert.equal(configuration.get("pool.size"), 20);
  const { property, propertySources } = configuration.find("pool.size") ?? assert.fail();
  assert.deepEqual(property, { source: "overrides", value: 20, pending: { value: 30, revision: 16 } });
  assert.deepEqual(propertySources[2], { name: "overrides", property: { value: 20, origin: "revision 9" } });
  assert.deepEqual(configuration.find("page.size")?.property, { source: "overrides", value: 50 });
  assert.deepEqual(configuration.propertySources()[2]?.properties, {
    "pool.size": { value: 20, origin: "revision 9", pending: { value: 30, revision: 16 } },
    "page.size": { value: 50, origin: "revision 17" },
  });
  configuration.setOverrides({ revision: 18, changes: { "pool.size": { revision: 18, set: false, value: null } } });
  const removed = configuration.find("pool.size")?.property;
  assert.deepEqual(removed, { source: "overrides", value: 20, pending: { value: 10, revision: 18 } });
  assert.deepEqual(configuration.pendingRestart(), ["pool.size"]);
});

test("an override that comes after the property was read is pending", () => {
  const configuration = load();
  assert.equal(configuration.get("pool.size"), 10);
  configuration.startWith(at(9, { "pool.size": 20 }));
  assert.equal(configuration.get("pool.size"), 10);
  assert.deepEqual(configuration.find("pool.size")?.property, {
    source: "defaults",
    value: 10,
    pending: { value: 20, revision: 9 },
  });
  assert.deepEqual(configuration.propertySources()[2]?.properties, {});
});

test("one throwing subscriber does not hide the change from the others", () => {
  const configuration = load();
  let received = 0;
  configuration.onChange("page.size", () => {
    throw new Error("broken subscriber");
  });
  configuration.onChange("page.size", (value) => {
    received = value;
  });
  assert.throws(() => configuration.setOverrides(at(1, { "page.size": 42 })), AggregateError);
  assert.equal(received, 42);
});

test("subscribing to a property that never changes is refused", () => {
  assert.throws(() => load().onChange("pool.size", () => {}), /does not change while running/);
});

const ruled = defineProperties({
  "page.max": { ...common, type: "integer", default: 100, reload: "live" },
  "page.size": { ...common, type: "integer", default: 20, atMost: "page.max", reload: "live" },
  locales: { ...common, type: "list", default: ["en"], minItems: 1, reload: "live" },
  locale: { ...common, type: "string", default: "en", oneOf: "locales", reload: "live" },
});
const loadRuled = (...argv: string[]) =>
  loadConfiguration({ service: "config", properties: ruled, argv, environment: {}, directory: null });

test("values that break a rule between two properties stop the start, with the expected value", () => {
  assert.throws(() => loadRuled("--page.max=10"), /page\.size .* is 20: expected at most page\.max, which is 10/);
  assert.throws(() => loadRuled("--locale=de"), /locale \(from --locale\) is "de": expected one of locales: en/);
  assert.throws(() => loadRuled("--locales="), /a list of at least 1 items/);
  assert.equal(loadRuled("--page.max=10", "--page.size=5").get("page.size"), 5);
});

test("of overrides that break a rule only the newest is refused", () => {
  const configuration = loadRuled();
  const problems = configuration.setOverrides({
    revision: 3,
    changes: {
      "page.max": { revision: 3, set: true, value: 10 },
      "page.size": { revision: 2, set: true, value: 30 },
      locale: { revision: 1, set: true, value: "de" },
    },
  });
  assert.deepEqual([configuration.get("page.max"), configuration.get("page.size")], [100, 30]);
  assert.equal(configuration.get("locale"), "en");
  assert.deepEqual(problems.map(({ property, expected }) => `${property}: ${expected}`).sort(), [
    "locale: one of locales: en",
    "page.max: a value that keeps page.size at most page.max, which is 10",
  ]);
});
