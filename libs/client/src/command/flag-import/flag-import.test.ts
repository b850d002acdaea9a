import assert from "node:assert/strict";
import { test } from "node:test";
import { importFlagd } from "./import-flagd.ts";
import { importUnleash } from "./import-unleash.ts";
import type { Fields } from "./imported-flag.ts";

const onOff = { on: true, off: false };

function flagd(targeting: unknown, more: object = {}) {
  const flag = { state: "ENABLED", variants: onOff, defaultVariant: "off", targeting, ...more };
  const { flags, problems } = importFlagd({ flags: { newCheckout: flag } });
  return { flag: flags[0], problem: problems[0]?.message };
}

const rulesOf = (targeting: unknown) => flagd(targeting).flag?.rules;
const email = { var: "email" };

test("a flag of flagd keeps its key, values, default, state", () => {
  const { flag } = flagd({}, { state: "DISABLED", variants: { low: 1, high: 2.5 }, defaultVariant: "low" });
  assert.deepEqual(flag, {
    key: "newCheckout",
    state: "disabled",
    type: "float",
    description: "",
    variants: [
      { name: "low", value: 1 },
      { name: "high", value: 2.5 },
    ],
    default: "low",
    off: "low",
    rules: [],
  });
});

test("each condition of flagd becomes an attribute with the same meaning", () => {
  const cases: [object, object][] = [
    [{ "==": [email, "a"] }, { name: "email", operator: "==", value: "a" }],
    [{ "===": ["a", email] }, { name: "email", operator: "==", value: "a" }],
    [{ "<": [5, { var: ["age"] }] }, { name: "age", operator: ">", value: 5 }],
    [{ "!": { in: [email, ["a"]] } }, { name: "email", operator: "not_in", value: ["a"] }],
    [{ in: ["@acme.com", email] }, { name: "email", operator: "contains", value: "@acme.com" }],
    [{ ends_with: [email, ".de"] }, { name: "email", operator: "ends_with", value: ".de" }],
    [
      { sem_ver: [{ var: "app.version" }, "^", "1.2.0"] },
      { name: "app.version", operator: "sem_ver", value: "^1.2.0" },
    ],
  ];
  for (const [condition, attribute] of cases)
    assert.deepEqual(rulesOf({ if: [condition, "on", "off"] }), [
      { attributes: [attribute], variant: "on" },
      { variant: "off" },
    ]);
});

test("alternatives become rules, in their order", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => ({ "==": [{ var: name }, 1] }));
  const names = rulesOf({ if: [{ and: [{ or: [a, b] }, c] }, "on"] })?.map(({ attributes = [], variant }) => [
    attributes.map(({ name }) => name).join("+"),
    variant,
  ]);
  assert.deepEqual(names, [
    ["a+c", "on"],
    ["b+c", "on"],
  ]);
});

test("shares of flagd become growing percentages of the same buckets", () => {
  const shares = [
    ["on", 1],
    ["off", 3],
  ];
  assert.deepEqual(rulesOf({ fractional: shares }), [
    { percentage: 25, variant: "on" },
    { percentage: 100, variant: "off" },
  ]);
  const by = { cat: [{ var: "$flagd.flagKey" }, { var: "userId" }] };
  assert.deepEqual(rulesOf({ fractional: [by, ...shares] })?.[0], { percentage: 25, by: "userId", variant: "on" });
});

test("an evaluator is put in where it is named", () => {
  const flag = {
    state: "ENABLED",
    variants: onOff,
    defaultVariant: "off",
    targeting: { if: [{ $ref: "staff" }, "on"] },
  };
  const file = { flags: { f: flag }, $evaluators: { staff: { in: ["@acme.com", email] } } };
  assert.equal(importFlagd(file).flags[0]?.rules[0]?.attributes?.[0]?.operator, "contains");
});

test("the targeting key is the account", () => {
  assert.deepEqual(rulesOf({ if: [{ in: [{ var: "targetingKey" }, ["acc_1", "acc_2"]] }, "on"] }), [
    { accounts: ["acc_1", "acc_2"], variant: "on" },
  ]);
});

test("what flagd alone has is refused with its place", () => {
  const cases: [object, RegExp][] = [
    [
      { if: [{ ">": [{ var: "$flagd.timestamp" }, 1] }, "on"] },
      /targeting\.if\[0\]: \$flagd\.timestamp is not an attr/,
    ],
    [{ if: [{ "+": [1, 2] }, "on"] }, /targeting\.if\[0\]: \+ of this form is not supported/],
    [{ if: [{ "==": [email, { var: "b" }] }, "on"] }, /== of this form is not supported/],
    [{ if: [{ $ref: "none" }, "on"] }, /unknown evaluator none/],
    [{ if: [{ "!": { and: [{ "==": [email, 1] }, { "==": [email, 2] }] } }, "on"] }, /negates more than one/],
    [{ fractional: [{ "+": [1] }, ["on", 1]] }, /must choose shares by one attribute/],
  ];
  for (const [targeting, message] of cases) assert.match(flagd(targeting).problem ?? "", message);
  assert.match(flagd({}, { defaultVariant: null }).problem ?? "", /^flags\.newCheckout\.defaultVariant: must name/);
  assert.match(flagd({}, { variants: { a: 1, b: "x" } }).problem ?? "", /variants: must have values of one type/);
});

test("a branch of null gives the default variant, before the branches that follow", () => {
  assert.deepEqual(rulesOf({ if: [{ "==": [email, "a"] }, null, "on"] }), [
    { attributes: [{ name: "email", operator: "==", value: "a" }], variant: "off" },
    { variant: "on" },
  ]);
});

test("what flagd alone has is refused with its place", () => {
  for (const condition of [{ "<": [1, { var: "age" }, 10] }, { "==": [{ var: ["plan", "free"] }, "free"] }])
    assert.match(
      flagd({ if: [condition, "on"] }).problem ?? "",
      /targeting\.if\[0\]: .* of this form is not supported/,
    );
  for (const state of ["disabled", 5, null])
    assert.match(flagd({}, { state }).problem ?? "", /flags\.newCheckout\.state: must be ENABLED or DISABLED/);
});

function unleash(strategy: object, more: object = {}) {
  const feature = { name: "My-Flag", enabled: true, strategies: [{ name: "default", ...strategy }], ...more };
  const { flags, problems } = importUnleash({ version: 2, features: [feature], ...more });
  return { flag: flags[0], problem: problems[0]?.message };
}

const constrained = (constraint: object) => ({ constraints: [{ contextName: "plan", ...constraint }] });

test("each constraint of Unleash becomes an attribute with the same meaning", () => {
  const cases: [object, readonly unknown[]][] = [
    [{ operator: "IN", values: ["a"] }, ["in", ["a"]]],
    [{ operator: "IN", values: ["a"], inverted: true }, ["not_in", ["a"]]],
    [{ operator: "NOT_IN", values: ["a"] }, ["not_in", ["a"]]],
    [{ operator: "NUM_GTE", value: "5" }, [">=", 5]],
    [{ operator: "NUM_GTE", value: "5", inverted: true }, ["<", 5]],
    [{ operator: "SEMVER_GT", value: "1.2.0" }, ["sem_ver", ">1.2.0"]],
    [{ operator: "STR_ENDS_WITH", values: [".de"] }, ["ends_with", ".de"]],
  ];
  for (const [constraint, [operator, value]] of cases)
    assert.deepEqual(unleash(constrained(constraint)).flag?.rules, [
      { attributes: [{ name: "plan", operator, value }], variant: "on" },
    ]);
});

test("a gradual roll-out of Unleash goes by what sticks", () => {
  const rollOut = (parameters: object) => unleash({ name: "flexibleRollout", parameters }).flag?.rules;
  assert.deepEqual(rollOut({ rollout: "25", stickiness: "default" }), [
    { percentage: 25, by: "userId", variant: "on" },
  ]);
  assert.equal(rollOut({ rollout: "25", stickiness: "tenant" })?.[0]?.by, "tenant");
});

test("variants of Unleash share the roll-out by their weights", () => {
  const variants = [
    { name: "blue", weight: 250, payload: { type: "string", value: "#00f" } },
    { name: "red", weight: 750 },
  ];
  const { flag } = unleash({ name: "flexibleRollout", parameters: { rollout: 40 } }, { variants });
  assert.deepEqual(
    [flag?.type, flag?.default, flag?.variants.map(({ value }) => value)],
    ["string", "disabled", ["#00f", "red", "disabled"]],
  );
  assert.deepEqual(
    flag?.rules.map(({ percentage }) => percentage),
    [10, 40],
  );
});

test("segments of Unleash are conditions of their strategies", () => {
  const segments = [{ id: 7, constraints: [{ contextName: "country", operator: "IN", values: ["DE"] }] }];
  assert.equal(unleash({ segments: [7] }, { segments }).flag?.rules[0]?.attributes?.[0]?.name, "country");
});

test("an export of Unleash needs the environment that counts", () => {
  const file: Fields = {
    features: [{ name: "f", description: "About it" }],
    featureStrategies: [
      { featureName: "f", environment: "production", name: "userWithId", parameters: { userIds: "u1, u2" } },
      { featureName: "f", environment: "development", name: "default" },
    ],
    featureEnvironments: [
      { featureName: "f", environment: "production", enabled: false },
      { featureName: "f", environment: "development", enabled: true },
    ],
  };
  const { flags } = importUnleash(file, "production");
  assert.deepEqual(
    [flags[0]?.state, flags[0]?.description, flags[0]?.rules],
    [
      "disabled",
      "About it",
      [{ attributes: [{ name: "userId", operator: "in", value: ["u1", "u2"] }], variant: "on" }],
    ],
  );
  assert.throws(() => importUnleash(file), /--environment: production, development/);
});

test("what Unleash alone has is refused with its place", () => {
  const cases: [object, RegExp][] = [
    [{ name: "custom" }, /strategies\[0\]\.name: The strategy custom is not supported/],
    [{ name: "flexibleRollout", parameters: { rollout: 5, stickiness: "random" } }, /parameters\.stickiness: random/],
    [{ name: "flexibleRollout", parameters: {} }, /parameters\.rollout: must be a number from 0 to 100/],
    [
      constrained({ operator: "NUM_GT", value: "9007199254740993" }),
      /constraints\[0\]\.value: 9007199254740993 would be/,
    ],
    [constrained({ operator: "DATE_AFTER", value: "2026" }), /constraints\[0\]\.operator: DATE_AFTER/],
    [constrained({ operator: "STR_CONTAINS", values: ["a"], inverted: true }), /Inverted STR_CONTAINS/],
    [constrained({ operator: "STR_CONTAINS", values: ["a"], caseInsensitive: true }), /caseInsensitive/],
    [{ segments: [9] }, /unknown segment 9/],
    [{ variants: [{ name: "a", weight: 1 }] }, /strategies\[0\]\.variants: is not supported/],
    [{ name: "remoteAddress", parameters: { IPs: "10.0.0.0/8" } }, /parameters\.IPs: must not be ranges/],
    [{ name: "flexibleRollout", parameters: { rollout: " " } }, /parameters\.rollout: must be a number/],
    [{ name: "flexibleRollout", parameters: { rollout: null } }, /parameters\.rollout: must be a number/],
  ];
  for (const [strategy, message] of cases) assert.match(unleash(strategy).problem ?? "", message);
  const ofFeatures: [object, RegExp][] = [
    [{ dependencies: [{ feature: "parent" }] }, /features\[0\]\.dependencies: is not supported/],
    [{ variants: [{ name: "a", weight: 1, overrides: [{}] }] }, /variants\[0\]\.overrides: is not supported/],
  ];
  for (const [feature, message] of ofFeatures) assert.match(unleash({}, feature).problem ?? "", message);
  assert.throws(() => unleash({}, { segments: [{ id: 1 }] }), /segments\.constraints: must be a list/);
});

test("a feature without strategies is on for everybody, as one rolled out to all", () => {
  const everybody = [{ variant: "on" }];
  const { flags } = importUnleash({ features: [{ name: "a", enabled: true, strategies: [] }] });
  assert.deepEqual(flags[0]?.rules, everybody);
  assert.deepEqual(unleash({ name: "flexibleRollout", parameters: { rollout: "100" } }).flag?.rules, everybody);
});

test("a feature that the environment does not name is disabled", () => {
  const featureEnvironments = [{ featureName: "b", environment: "production", enabled: true }];
  const { flags } = importUnleash({ features: [{ name: "a" }], featureEnvironments });
  assert.equal(flags[0]?.state, "disabled");
});

test("a file without features is refused", () => {
  for (const file of [{}, { hello: 1 }, { features: null }])
    assert.throws(() => importUnleash(file), /features: must be a list/);
});
