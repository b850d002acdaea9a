import assert from "node:assert/strict";
import { test } from "node:test";
import { FlagDefinition } from "@signalbox/contracts";
import { type AttributeRule, attributeOf, attributeProblem, compileAttribute } from "./attribute-condition.ts";
import { flagProblems } from "./flag-problems.ts";
import { FlagSet } from "./flag-set.ts";

type Operator = AttributeRule["operator"];

const holds = (operator: Operator, value: unknown, attribute: unknown) =>
  compileAttribute({ name: "it", operator, value })(attribute === undefined ? {} : { it: attribute });

/** For each operator: a value, attributes of which it holds, and attributes of which it does not. */
const cases: readonly [Operator, unknown, readonly unknown[], readonly unknown[]][] = [
  ["==", "pro", ["pro"], ["Pro", ["pro"], undefined, null]],
  ["==", 1, [1], ["1", true]],
  ["==", true, [true], [1, "true"]],
  ["!=", "pro", ["free", 1, undefined, null], ["pro"]],
  ["<", 10, [9.5, "9", " 9.5 "], [10, "10", "", "x", true, undefined]],
  ["<=", 10, [10], [10.1]],
  [">", "b", ["c"], ["b", 3]],
  [">=", 10, [10], [9]],
  ["in", ["de", 7], ["de", 7, ["x", "de"]], ["d", "7", [], undefined]],
  ["not_in", ["de"], ["en", ["en"], undefined], ["de", ["en", "de"]]],
  ["contains", "@example.com", ["ada@example.com", ["@example.com"]], ["ada@example.org", 1, undefined]],
  ["contains", 7, [[6, 7]], [["7"], 7]],
  ["starts_with", "acme-", ["acme-1"], ["x-acme-", 1]],
  ["ends_with", ".de", ["a.de"], ["a.den", undefined]],
  ["sem_ver", "^1.2.0", ["1.9.0", "1.0.0", "v1.4"], ["2.0.0", "x", 1, undefined]],
  ["sem_ver", "~1.2.0", ["1.2.9"], ["1.3.0"]],
  ["sem_ver", ">=2.0.0", ["2.0.0", "10.0.0", "2.0.1-rc.1"], ["2.0.0-rc.1", "1.99.0"]],
  ["sem_ver", "1.2.3", ["1.2.3", "1.2.3+build.5"], ["1.2.3-a"]],
  ["sem_ver", "<1.0.0-beta.11", ["1.0.0-beta.2", "1.0.0-alpha", "1.0.0-beta"], ["1.0.0-rc.1", "1.0.0"]],
];

for (const [operator, value, fulfilled, missed] of cases) {
  test(`${operator} ${JSON.stringify(value)} holds of what it says alone`, () => {
    for (const attribute of fulfilled) assert.equal(holds(operator, value, attribute), true, JSON.stringify(attribute));
    for (const attribute of missed) assert.equal(holds(operator, value, attribute), false, JSON.stringify(attribute));
  });
}

test("an attribute is found by its name before its path", () => {
  assert.equal(attributeOf({ "app.version": 1, app: { version: 2 } }, "app.version"), 1);
  assert.equal(attributeOf({ app: { version: 2 } }, "app.version"), 2);
  for (const name of ["constructor", "app.constructor", "app.version.length", "__proto__"])
    assert.equal(attributeOf({ app: { version: "2" } }, name), undefined, name);
});

test("a value that its operator cannot compare is refused with its member", () => {
  const refused: readonly [string, Operator, unknown, string][] = [
    ["plan", "in", "pro", "value"],
    ["plan", "==", ["pro"], "value"],
    ["plan", "<", true, "value"],
    ["plan", "starts_with", 1, "value"],
    ["version", "sem_ver", "latest", "value"],
    ["version", "sem_ver", 1, "value"],
    ["targetingKey", "==", "acc_1", "name"],
    ["locale", "==", "de", "name"],
  ];
  for (const [name, operator, value, member] of refused)
    assert.equal(attributeProblem({ name, operator, value })?.member, member, `${name} ${operator}`);
  for (const [operator, value] of cases)
    assert.equal(attributeProblem({ name: "it", operator, value }), null, operator);
});

const flag = (...rules: readonly object[]): FlagDefinition =>
  FlagDefinition.parse({
    key: "checkout",
    state: "enabled",
    type: "boolean",
    owner: "payments",
    salt: "s",
    variants: [
      { name: "on", value: true },
      { name: "off", value: false },
    ],
    default: "off",
    off: "off",
    rules: rules.map((rule) => ({ variant: "on", ...rule })),
  });

function evaluated(definition: FlagDefinition, attributes: object): string {
  const flags = new FlagSet();
  flags.put("checkout", definition, 1);
  const who = { accountId: "acc_ada", roles: [], locale: null, createdAtMs: null, attributes: { ...attributes } };
  const { variant, reason } = flags.evaluate("checkout", who, 0);
  return `${variant} ${reason}`;
}

test("every attribute of a rule must match", () => {
  const definition = flag({
    attributes: [
      { name: "plan", operator: "==", value: "pro" },
      { name: "seats", operator: ">", value: 10 },
    ],
  });
  assert.equal(evaluated(definition, { plan: "pro", seats: 11 }), "on TARGETING_MATCH");
  assert.equal(evaluated(definition, { plan: "pro", seats: 10 }), "off DEFAULT");
});

test("a share by an attribute gives each of its values one variant", () => {
  const definition = flag({ percentage: 50, by: "user.id" });
  const results = Array.from({ length: 200 }, (_, id) => evaluated(definition, { user: { id: `u${id}` } }));
  const given = results.filter((result) => result === "on SPLIT").length;
  assert.ok(given > 70 && given < 130, `${given} of 200`);
  assert.deepEqual(
    results,
    Array.from({ length: 200 }, (_, id) => evaluated(definition, { user: { id: `u${id}` } })),
  );
  assert.equal(evaluated(flag({ percentage: 100, by: "user.id" }), {}), "off DEFAULT", "without it there is no share");
});

test("faults of attributes name their field", () => {
  const definition = flag({ by: "user", attributes: [{ name: "version", operator: "sem_ver", value: "new" }] });
  assert.deepEqual(
    flagProblems(definition, []).map(({ field }) => field),
    ["rules[0].attributes[0].value", "rules[0].by"],
  );
});
