import assert from "node:assert/strict";
import { test } from "node:test";
import type { Answer } from "../../journey/client.ts";
import { type Attack, control } from "./attack.ts";
import { httpAttack, httpControl, plantedAnswer, refusedAs, succeeds } from "./http-attack.ts";
import { printReport, printTotal, runAttacks } from "./run-attacks.ts";

const refusal = plantedAnswer(401, { error: { code: "unauthorized" } });
const welcome = plantedAnswer(200, { id: "x" });

/** A system that gives one answer to strangers and another to the owner. */
const system = (toStrangers: Answer | Error, toOwners: Answer = welcome) => ({
  row: (what = "a stranger reads"): Attack =>
    httpAttack({
      what,
      must: "be refused",
      path: "/secret",
      request: { headers: { "x-api-key": "stolen" } },
      send: async () => {
        if (toStrangers instanceof Error) throw toStrangers;
        return toStrangers;
      },
      judge: refusedAs("unauthorized"),
      control: httpControl({ what: "the owner reads", path: "/secret", send: async () => toOwners, judge: succeeds }),
    }),
});

test("an attack that is refused is counted, not reported, if its control succeeds", async () => {
  const report = await runAttacks("group", [system(refusal).row()], 2);
  assert.deepEqual([report.tried, report.succeeded, report.unproven], [1, [], []]);
});

test("an attack that is let in is reported with what happened and how to repeat it", async () => {
  const report = await runAttacks("group", [system(welcome).row()], 2);
  assert.deepEqual(report.succeeded, [
    {
      what: "a stranger reads",
      must: "be refused",
      happened: '200 {"id":"x"}',
      repeat: `curl -i -X GET "$BASE/secret" -H 'x-api-key: stolen'`,
    },
  ]);
  const printed = printReport(report);
  for (const part of ["1 tried, 1 succeeded", "curl -i"]) assert.ok(printed.includes(part), printed);
  assert.equal(printTotal([report, report]), "all: 2 tried, 2 succeeded");
});

test("a fault, another refusal or no answer at all is no refusal", async () => {
  const others = [
    plantedAnswer(500),
    plantedAnswer(404, { error: { code: "not_found" } }),
    plantedAnswer(429, { error: { code: "rate_limited" } }),
    new Error("gone"),
  ];
  for (const other of others) assert.equal((await runAttacks("group", [system(other).row()], 2)).succeeded.length, 1);
});

test("a row that everybody is refused, its owner too, proves nothing", async () => {
  const report = await runAttacks("group", [system(refusal, plantedAnswer(404)).row()], 2);
  assert.equal(report.succeeded.length, 0);
  assert.match(report.unproven.join(), /1 rows prove nothing, as "the owner reads" fails: 404/);
});

test("a row or a control whose judge would not see a success is reported", async () => {
  const blind = { ...system(refusal).row(), isBlind: () => true };
  assert.match((await runAttacks("group", [blind], 2)).unproven.join(), /"a stranger reads" would not see a success/);
  const never = control<number>({ what: "never judged", attempt: async () => 1, judge: () => null, planted: [0] });
  const row = { ...system(refusal).row(), control: never };
  assert.match((await runAttacks("group", [row], 2)).unproven.join(), /"never judged" would not see a success/);
});

test("two rows of one name are reported: one of them hides the other", async () => {
  const { row } = system(refusal);
  assert.match((await runAttacks("group", [row(), row()], 2)).unproven.join(), /"a stranger reads" is there twice/);
});

test("controls come after all attacks: what an owner removes was there for every attacker", async () => {
  const order: string[] = [];
  const last = control<number>({
    what: "remove",
    attempt: async () => order.push("control"),
    judge: (count) => (count > 0 ? null : "0"),
    planted: [0],
  });
  const row = (what: string): Attack => ({
    ...system(refusal).row(what),
    control: last,
    run: async () => (order.push(what) > 0 ? null : "0"),
  });
  await runAttacks("group", [row("a"), row("b"), row("c")], 2);
  assert.deepEqual(order, ["a", "b", "c", "control"]);
});
