import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { FlagDefinition } from "@signalbox/contracts";
import { hours } from "@signalbox/core";
import fc from "fast-check";
import type { FlagContext } from "./flag-context.ts";
import { flagProblems } from "./flag-problems.ts";
import { FlagSet } from "./flag-set.ts";
import { bucketOf, buckets, isWithin } from "./rollout-bucketing.ts";

const nowMs = Date.parse("2026-06-01T12:00:00.000Z");
const ada: FlagContext = {
  accountId: "acc_ada",
  roles: ["owner"],
  locale: "de",
  createdAtMs: nowMs - hours(24 * 10),
  attributes: {},
};

const flag = (more: object = {}): FlagDefinition =>
  FlagDefinition.parse({
    key: "checkout",
    state: "enabled",
    type: "string",
    owner: "payments",
    salt: "s",
    variants: [
      { name: "new", value: "NEW" },
      { name: "old", value: "OLD" },
      { name: "off", value: "OFF" },
    ],
    default: "old",
    off: "off",
    ...more,
  });

const evaluated = (definition: FlagDefinition, context = ada, others: readonly FlagDefinition[] = []) => {
  const flags = new FlagSet();
  [...others, definition].forEach((each, index) => void flags.put(each.key, each, index + 1));
  const { variant, reason } = flags.evaluate(definition.key, context, nowMs);
  return `${variant} ${reason}`;
};

const rules = (...given: object[]) => flag({ rules: given.map((rule) => ({ variant: "new", ...rule })) });

test("each state has its own result", () => {
  assert.equal(evaluated(flag()), "old STATIC");
  assert.equal(evaluated(flag({ state: "disabled", rules: [{ variant: "new" }] })), "off DISABLED");
  assert.equal(evaluated(flag({ state: "deprecated" })), "old STATIC");
  assert.equal(evaluated(flag({ state: "preview" })), "off DEFAULT");
  assert.equal(
    evaluated(flag({ state: "preview", rules: [{ accounts: ["acc_ada"], variant: "new" }] })),
    "new TARGETING_MATCH",
  );
});

test("each condition of a rule matches exactly the accounts that it names", () => {
  const cases: [object, Partial<FlagContext>][] = [
    [{ accounts: ["acc_x", "acc_ada"] }, { accountId: "acc_eve" }],
    [{ roles: ["owner"] }, { roles: ["viewer"] }],
    [{ locales: ["de"] }, { locale: "en" }],
    [{ locales: ["de"] }, { locale: null }],
    [{ age: { from: 10 } }, { createdAtMs: nowMs - hours(24 * 9) }],
    [{ age: { to: 11 } }, { createdAtMs: nowMs - hours(24 * 11) }],
    [{ age: {} }, { createdAtMs: null }],
  ];
  for (const [condition, other] of cases) {
    assert.equal(evaluated(rules(condition)), "new TARGETING_MATCH", JSON.stringify(condition));
    assert.equal(evaluated(rules(condition), { ...ada, ...other }), "old DEFAULT", JSON.stringify(condition));
  }
  assert.equal(evaluated(rules({ locales: ["DE"] })), "new TARGETING_MATCH", "the case of letters is no difference");
  assert.equal(evaluated(rules({ roles: ["owner"], locales: ["en"] })), "old DEFAULT", "all conditions hold together");
});

test("the first matching rule decides", () => {
  assert.equal(evaluated(rules({ locales: ["de"], variant: "off" }, { locales: ["de"] })), "off TARGETING_MATCH");
  assert.equal(evaluated(rules({ percentage: 0, variant: "off" }, { percentage: 100 })), "new SPLIT");
});

test("the start or end of a schedule changes the flag", () => {
  const during = { from: "2026-06-01T00:00:00.000Z", until: "2026-06-02T00:00:00.000Z" };
  assert.equal(evaluated(flag({ schedule: during })), "old STATIC");
  assert.equal(evaluated(flag({ schedule: { from: during.until, until: null } })), "off DISABLED");
  assert.equal(evaluated(flag({ schedule: { from: null, until: during.from } })), "off DISABLED");
  const flags = new FlagSet();
  flags.put("checkout", flag({ schedule: during }), 1);
  assert.notEqual(flags.epochAt(nowMs), flags.epochAt(nowMs + hours(12)));
  assert.equal(flags.epochAt(nowMs), flags.epochAt(nowMs + 1));
});

test("a flag that many paths of prerequisites lead to is evaluated once", () => {
  const flags = new FlagSet();
  let evaluations = 0;
  const counted: FlagContext = {
    ...ada,
    get locale() {
      evaluations++;
      return "de";
    },
  };
  const depth = 18;
  for (let level = 0; level <= depth; level++) {
    const twice = [`level${level - 1}`, `level${level - 1}`].map((key) => ({ flag: key, variants: ["new"] }));
    const asks = [{ locales: ["de"], variant: "new" }];
    flags.put(
      `level${level}`,
      flag({ key: `level${level}`, rules: asks, prerequisites: level > 0 ? twice : [] }),
      level + 1,
    );
  }
  assert.equal(flags.evaluate(`level${depth}`, counted, nowMs).variant, "new");
  assert.ok(evaluations < 100, `${evaluations} evaluations`);
});

test("a prerequisite without a required variant turns the flag off", () => {
  const wants = (variants: string[]) => flag({ prerequisites: [{ flag: "base", variants }] });
  const base = flag({ key: "base" });
  assert.equal(evaluated(wants(["old"]), ada, [base]), "old STATIC");
  assert.equal(evaluated(wants(["new"]), ada, [base]), "off PREREQUISITE_FAILED");
  assert.equal(evaluated(wants(["old"])), "off PREREQUISITE_FAILED", "a removed one has no value");
});

test("an evaluation never throws, not even in a loop created by a race", () => {
  const [one, other] = ["a", "b"].map((key, index) =>
    flag({ key, prerequisites: [{ flag: index === 0 ? "b" : "a", variants: ["old"] }] }),
  ) as [FlagDefinition, FlagDefinition];
  assert.equal(evaluated(one, ada, [other]), "off PREREQUISITE_FAILED");
  const { value, reason } = new FlagSet().evaluate("none", ada, nowMs);
  assert.deepEqual([value, reason], [null, "ERROR"]);
});

test("only a higher revision changes or removes a flag", () => {
  const flags = new FlagSet();
  assert.equal(flags.put("checkout", flag(), 5), true);
  assert.equal(flags.put("checkout", flag({ state: "disabled" }), 4), false);
  assert.equal(flags.put("checkout", null, 5), false);
  assert.equal(flags.evaluate("checkout", ada, nowMs).reason, "STATIC");
  flags.put("checkout", null, 6);
  assert.equal(flags.put("checkout", flag(), 5), false, "a late record does not bring it back");
  assert.deepEqual([flags.definitions(), flags.revision], [[], 6]);
});

test("flags are stale from their date on", () => {
  const flags = new FlagSet();
  flags.put("a", flag({ key: "a", expires: "2026-06-01" }), 1);
  flags.put("b", flag({ key: "b", expires: "2026-06-02" }), 2);
  assert.deepEqual(flags.stale(nowMs), ["a"]);
});

test("every fault of a flag is named with its location", () => {
  const base = flag({ key: "base" });
  const loop = flag({ key: "base", prerequisites: [{ flag: "checkout", variants: ["old"] }] });
  const cases: [FlagDefinition, readonly FlagDefinition[], string, RegExp][] = [
    [flag({ default: "x" }), [], "default", /no variant x/],
    [flag({ off: "x" }), [], "off", /no variant x/],
    [rules({ variant: "x" }), [], "rules[0].variant", /no variant x/],
    [rules({ age: { from: 5, to: 5 } }), [], "rules[0].age", /less than/],
    [flag({ type: "integer" }), [], "variants[0].value", /an integer/],
    [
      flag({ schedule: { from: "2026-06-02T00:00:00.000Z", until: "2026-06-01T00:00:00.000Z" } }),
      [],
      "schedule",
      /before/,
    ],
    [flag({ prerequisites: [{ flag: "none", variants: ["x"] }] }), [], "prerequisites[0].flag", /no flag none/],
    [flag({ prerequisites: [{ flag: "base", variants: ["x"] }] }), [base], "prerequisites[0].flag", /no variant x/],
    [flag({ prerequisites: [{ flag: "checkout", variants: ["old"] }] }), [], "prerequisites[0].flag", /depends on/],
    [flag({ prerequisites: [{ flag: "base", variants: ["old"] }] }), [loop], "prerequisites[0].flag", /depends on/],
    [
      flag({ variants: [{ name: "off", value: "whsec_abcdef" }], default: "off" }),
      [],
      "variants[0].value",
      /credentials/,
    ],
    [flag({ variants: [{ name: "off", value: "******" }], default: "off" }), [], "variants[0].value", /\*{6}/],
    [flag({ owner: "password=hunter2" }), [], "owner", /credentials/],
    [flag({ description: "see https://ada:pw@host" }), [], "description", /credentials/],
    [rules({ name: "token: abcdef7", variant: "old" }), [], "rules[0].name", /credentials/],
  ];
  for (const [wrong, others, field, message] of cases) {
    const [problem] = flagProblems(wrong, others);
    assert.equal(problem?.field, field, JSON.stringify(problem));
    assert.match(problem?.message ?? "", message);
  }
  assert.deepEqual(flagProblems(flag({ prerequisites: [{ flag: "base", variants: ["old"] }] }), [base]), []);
});

test("values keep their type: null, false, 0 and an empty text are different", () => {
  const values = { boolean: false, string: "", integer: 0, float: 0.5, object: {} } as const;
  for (const [type, value] of Object.entries(values)) {
    for (const [other, wrong] of Object.entries({ ...values, null: null, list: [] })) {
      const definition = flag({ type, variants: [{ name: "off", value: wrong }], default: "off" });
      const isRight = other === type || (type === "float" && other === "integer");
      assert.equal(flagProblems(definition, []).length === 0, isRight, `${other} as ${type}`);
    }
    const flags = new FlagSet();
    flags.put("checkout", flag({ type, variants: [{ name: "off", value }], default: "off" }), 1);
    assert.deepEqual(flags.evaluate("checkout", ada, nowMs).value, value);
  }
});

test("an evaluation always returns the same variant of its flag, for any flag or account", () => {
  const variants = ["new", "old", "off"] as const;
  const rule = fc.record(
    {
      variant: fc.constantFrom(...variants),
      accounts: fc.array(fc.constantFrom("acc_ada", "acc_eve"), { minLength: 1 }),
      roles: fc.array(fc.constantFrom("owner", "viewer"), { minLength: 1 }),
      locales: fc.array(fc.constantFrom("de", "en"), { minLength: 1 }),
      percentage: fc.integer({ min: 0, max: 100_000 }).map((count) => count / 1_000),
      age: fc.record({ from: fc.nat(20) }),
    },
    { requiredKeys: ["variant"] },
  );
  const context = fc.record({
    accountId: fc.string(),
    roles: fc.subarray(["owner", "viewer"]),
    locale: fc.constantFrom("de", "en", null),
    createdAtMs: fc.option(fc.nat(nowMs)),
    attributes: fc.constant({}),
  });
  const state = fc.constantFrom("enabled", "disabled", "preview", "deprecated");
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 5 }), state, context, (given, in_, who) => {
      const definition = flag({
        rules: given.map(({ percentage, ...rest }) => ({
          ...rest,
          ...(percentage !== undefined && { percentage: Math.round(percentage * 1_000) / 1_000 }),
        })),
        state: in_,
      });
      const flags = new FlagSet();
      flags.put("checkout", definition, 1);
      const { variant, value } = flags.evaluate("checkout", who, nowMs);
      assert.ok(variants.some((name) => name === variant) && value === variant?.toUpperCase());
      assert.deepEqual(flags.evaluate("checkout", who, nowMs), flags.evaluate("checkout", who, nowMs));
    }),
  );
});

test("the published vectors, computed by another program, match", async () => {
  const file = new URL("../../../../docs/reference/flag-buckets.json", import.meta.url);
  const { vectors } = JSON.parse(await readFile(file, "utf8"));
  assert.ok(vectors.length >= 20);
  for (const { salt, targeting_key: key, bucket } of vectors)
    assert.equal(bucketOf(salt, key), bucket, `${salt} ${key}`);
});

test("raising a percentage only adds accounts", () => {
  const percentage = fc.integer({ min: 0, max: buckets }).map((count) => count / 1_000);
  fc.assert(
    fc.property(fc.string(), fc.string(), percentage, percentage, (salt, key, one, other) => {
      const bucket = bucketOf(salt, key);
      const [less, more] = one < other ? [one, other] : [other, one];
      return !isWithin(bucket, less) || isWithin(bucket, more);
    }),
  );
});

test("each thousandth of a percent is one bucket, from no account at 0 % to all at 100 %", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: buckets - 1 }), (bucket) => {
      assert.equal(isWithin(bucket, 0), false);
      assert.equal(isWithin(bucket, 100), true);
      assert.equal(isWithin(bucket, bucket / 1_000), false);
      assert.equal(isWithin(bucket, (bucket + 1) / 1_000), true);
    }),
  );
});

test("a hundred thousand accounts are spread evenly: each share is hit within one percent", () => {
  const count = 100_000;
  const found = Array.from({ length: count }, (_, index) => bucketOf("even", `acc_${index}`));
  for (const percentage of [1, 10, 33.333, 50, 90]) {
    const share = (found.filter((bucket) => isWithin(bucket, percentage)).length / count) * 100;
    assert.ok(Math.abs(share - percentage) < 1, `${percentage} %: ${share} %`);
  }
});
