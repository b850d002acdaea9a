// Whole machine: it floods a system of fourteen processes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { groups, runSuite } from "./run-suite.ts";
import { printReport, printTotal } from "./runner/run-attacks.ts";

/** Minimum number of rows in all groups together: a table that lost its rows would otherwise pass. */
const rowsMin = 2_000;

test("engines: every attack of every table is repelled while its control succeeds", async () => {
  const reports = await runSuite({
    mode: "engines",
    onReport: (report, seconds) => process.stdout.write(`${printReport(report, seconds)}\n`),
  });
  assert.deepEqual(
    reports.map(({ group }) => group),
    groups.map(({ name }) => name),
  );
  for (const { group, tried } of reports) assert.ok(tried > 0, `${group} has rows`);
  const tried = reports.reduce((sum, report) => sum + report.tried, 0);
  assert.ok(tried >= rowsMin, printTotal(reports));
  const problems = reports.filter(({ succeeded, unproven }) => succeeded.length + unproven.length > 0);
  assert.deepEqual(
    problems.map((report) => printReport(report)),
    [],
  );
});
