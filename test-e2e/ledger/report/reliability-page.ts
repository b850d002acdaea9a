import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Fault } from "../faults/fault.ts";
import { machineFaults } from "../faults/machine-faults.ts";
import { groupBy } from "../invariants/look-up.ts";
import type { Mode } from "../systems/ledger-system.ts";
import type { RoundFigures } from "./figures.ts";
import {
  machineRoundsFile,
  type PlayedIncident,
  type PlayedRound,
  readIncidents,
  readResults,
  roundsFile,
} from "./results.ts";

const page = fileURLToPath(new URL("../../../docs/reference/reliability.md", import.meta.url));
/** Number of rounds per mode on the page, the newest: results of old code leave it by themselves. */
const roundsMax = 300;
const machineRoundsMax = 20;
const modes: readonly Mode[] = ["embedded", "engines"];

/** Rewrites the tables of the reference page. */
export async function writeReliability(): Promise<void> {
  await writeFile(page, await reliabilityPage());
}

/** Returns the page with the tables of the recorded rounds. */
export async function reliabilityPage(): Promise<string> {
  const filled = fillIn(await readFile(page, "utf8"), await readResults(roundsFile));
  const machines = fillInMachines(filled, machineFaults, await readResults(machineRoundsFile));
  return fillInIncidents(machines, await readIncidents());
}

/** Inserts the table of the incidents: the newest time that each was played. */
export function fillInIncidents(text: string, played: readonly PlayedIncident[]): string {
  const newest = [...new Map(played.map((one) => [one.incident, one])).values()];
  const duration = (milliseconds: number) =>
    `${Math.floor(milliseconds / 60_000)} min ${Math.round((milliseconds % 60_000) / 1_000)} s`;
  const rows = newest.map(({ incident, alert, done, toAlertMs, toMendMs, toEndMs, day, commit }) => {
    const link = `[${alert}](../runbooks.md#${alert.toLowerCase()})`;
    const times = [toAlertMs, toMendMs, toEndMs].map(duration);
    return `| ${[incident, link, ...times, done, `${day}, ${commit}`].join(" | ")} |`;
  });
  const table = [
    "| incident | alert | until the alert | until it was mended | until the alert ended | found and done | played |",
    "|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
  const [before, rest] = text.split("<!-- incidents:start -->");
  const after = rest?.split("<!-- incidents:end -->")[1];
  if (before === undefined || after === undefined) throw new Error("the page has no place for the incidents");
  return `${before}<!-- incidents:start -->\n${table}\n<!-- incidents:end -->${after}`;
}

/** Inserts the table of the faults of machines: what users see, what tells of it, and the rounds that were played. */
export function fillInMachines(text: string, faults: readonly Fault[], rounds: readonly PlayedRound[]): string {
  const rows = faults.flatMap((fault) => {
    const ofFault = rounds.filter((round) => round.fault === fault.name);
    const played = modes.filter((mode) => ofFault.some((round) => round.mode === mode));
    return (played.length > 0 ? played : [null]).map((mode) =>
      machineRowOf(fault, mode, ofFault.filter((round) => round.mode === mode).slice(-machineRoundsMax)),
    );
  });
  const commits = [...new Set(rounds.map(({ commit }) => commit))].join(", ");
  const seeds = [...new Set(rounds.map(({ seed }) => seed))].join(", ");
  const table = [
    `\`npm run ledger -- --mode M --machines --rounds N\`, ${rounds.length} rounds of seed ${seeds || "–"}, commit ${commits || "–"}:`,
    "",
    "| fault | mode | rounds | users see | writes held up | alerts | violations | repeated at the receiver | well again: p50 | p95 | max |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
  const [before, rest] = text.split("<!-- machines:start -->");
  const after = rest?.split("<!-- machines:end -->")[1];
  if (before === undefined || after === undefined) throw new Error("the page has no place for the faults of machines");
  return `${before}<!-- machines:start -->\n${table}\n<!-- machines:end -->${after}`;
}

function machineRowOf(
  { name, users = "", alerts = [] }: Fault,
  mode: Mode | null,
  rounds: readonly PlayedRound[],
): string {
  const sum = (of: (round: PlayedRound) => number | undefined) =>
    rounds.reduce((total, one) => total + (of(one) ?? 0), 0);
  const links = alerts.map((alert) => `[${alert}](../runbooks.md#${alert.toLowerCase()})`).join(", ");
  const figures =
    rounds.length === 0
      ? ["–", users, "–", links, "–", "–"]
      : [
          rounds.length,
          users,
          share(
            sum(({ heldUp }) => heldUp),
            sum(({ writesInFault }) => writesInFault),
          ),
          links,
          sum(({ violations }) => violations),
          share(
            sum(({ repeatedAtReceiver }) => repeatedAtReceiver),
            sum(({ receipts }) => receipts),
          ),
        ];
  // Well again: everything runs, and a change that was made after the fault has arrived.
  const well = rounds.map(({ recoveryMs, undoMs = 0 }) => Math.max(recoveryMs, undoMs));
  const times = [0.5, 0.95, 1].map((part) => quantile(well, part));
  return `| ${[name, mode ?? "not played yet", ...figures, ...times].join(" | ")} |`;
}

/** Inserts the table of each mode between its marks. */
export function fillIn(text: string, rounds: readonly PlayedRound[]): string {
  return modes.reduce((filled, mode) => {
    const [start, end] = [`<!-- ${mode}:start -->`, `<!-- ${mode}:end -->`];
    const [before, rest] = filled.split(start);
    const after = rest?.split(end)[1];
    if (before === undefined || after === undefined) throw new Error(`the page has no place for ${mode}`);
    const newest = rounds.filter((round) => round.mode === mode).slice(-roundsMax);
    return `${before}${start}\n${newest.length === 0 ? "No rounds yet." : tableOf(mode, newest)}\n${end}${after}`;
  }, text);
}

function tableOf(mode: Mode, rounds: readonly PlayedRound[]): string {
  const groups = [...groupBy(rounds, ({ fault }) => fault)].sort(([one], [other]) => one.localeCompare(other, "en"));
  const calm = rounds.filter(({ ofLog }) => !ofLog);
  return [
    `${runsOf(mode, rounds)}:`,
    "",
    "| fault | rounds | acknowledged | violations | repeated on the log | repeated at the receiver | all runs again: p50 | events flow again: p50 | p95 | max |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...groups.map(([fault, ofFault]) => rowOf(fault, ofFault)),
    rowOf("**all**", rounds),
    ...(calm.length === rounds.length ? [] : [rowOf("**all but those of Kafka**", calm)]),
  ].join("\n");
}

/** Lists the commands, their commits and machines, and the failed rounds, so that they can be repeated. */
function runsOf(mode: Mode, rounds: readonly PlayedRound[]): string {
  const seeds = [...groupBy(rounds, ({ seed }) => String(seed))].map(([seed, all]) => `${all.length} of seed ${seed}`);
  const distinct = (of: (round: PlayedRound) => string | undefined) => [
    ...new Set(rounds.map(of).filter((value) => value !== undefined)),
  ];
  const red = rounds.filter(({ violations }) => violations > 0);
  const broken = red.map(({ fault, seed, commit = "?" }) => `${fault} of seed ${seed} on ${commit}`);
  const facts = [
    [`\`npm run ledger -- --mode ${mode} --rounds N --seed S\``],
    [`${rounds.length} rounds (${seeds.join(", ")})`],
    distinct(({ day }) => day),
    distinct(({ commit }) => (commit === undefined ? undefined : `commit ${commit}`)),
    distinct(({ cores }) => (cores === undefined ? undefined : `${cores} cores`)),
    broken.map((round) => `broken in ${round}`),
  ];
  return facts.flat().join(", ");
}

function rowOf(name: string, rounds: readonly RoundFigures[]): string {
  const sum = (of: (round: RoundFigures) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const undone = rounds.flatMap(({ undoMs }) => undoMs ?? []);
  const recovered = rounds.map(({ recoveryMs }) => recoveryMs);
  const cells = [
    name,
    rounds.length,
    sum(({ acknowledged }) => acknowledged),
    sum(({ violations }) => violations),
    share(
      sum(({ repeatedOnLog }) => repeatedOnLog),
      sum(({ records }) => records),
    ),
    share(
      sum(({ repeatedAtReceiver }) => repeatedAtReceiver),
      sum(({ receipts }) => receipts),
    ),
    quantile(undone, 0.5),
    quantile(recovered, 0.5),
    quantile(recovered, 0.95),
    quantile(recovered, 1),
  ];
  return `| ${cells.join(" | ")} |`;
}

const share = (part: number, whole: number): string => `${((100 * part) / Math.max(1, whole)).toFixed(2)} %`;

function quantile(times: readonly number[], part: number): string {
  if (times.length === 0) return "–";
  const sorted = times.toSorted((a, b) => a - b);
  const milliseconds = sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] as number;
  return Number.isFinite(milliseconds) ? `${(milliseconds / 1000).toFixed(1)} s` : "never";
}
