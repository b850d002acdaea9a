/** `npm run attack -- [--mode embedded|engines] [--group credentials]`: tries all attacks, and ends with 1 when one succeeds. */
import process from "node:process";
import { parseArgs } from "node:util";
import { groups, runSuite } from "./run-suite.ts";
import { printReport, printTotal } from "./runner/run-attacks.ts";
import { modes } from "./scene/start-system.ts";

const names = groups.map(({ name }) => name);
const { values } = parseArgs({
  options: { mode: { type: "string", default: "embedded" }, group: { type: "string", multiple: true, default: [] } },
});
const mode = modes.find((one) => one === values.mode);
if (mode === undefined || values.group.some((name) => !names.includes(name))) {
  process.stderr.write(`usage: npm run attack -- [--mode ${modes.join("|")}] [--group ${names.join("|")}]\n`);
  process.exit(2);
}
const reports = await runSuite({
  mode,
  only: values.group,
  onReport: (report, seconds) => process.stdout.write(`${printReport(report, seconds)}\n`),
});
process.stdout.write(`${printTotal(reports)}\n`);
process.exit(reports.every(({ succeeded, unproven }) => succeeded.length + unproven.length === 0) ? 0 : 1);
