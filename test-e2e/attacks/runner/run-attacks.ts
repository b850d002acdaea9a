import type { Attack, Control, Finding } from "./attack.ts";

/** An attack that succeeded. */
interface Success {
  readonly what: string;
  readonly must: string;
  readonly happened: string;
  readonly repeat: string;
}

export interface Report {
  readonly group: string;
  readonly tried: number;
  readonly succeeded: readonly Success[];
  /** Rows that prove nothing: a failed control, a blind judge, or a duplicate name. */
  readonly unproven: readonly string[];
}

/** Runs all rows of a group, several at a time, and then their controls: a control may remove what an attack needs. */
export async function runAttacks(group: string, rows: readonly Attack[], atOnce: number): Promise<Report> {
  const succeeded: Success[] = [];
  await inLanes(rows, atOnce, async (row) => {
    const happened = await findingOf(row);
    if (happened !== null) succeeded.push({ what: row.what, must: row.must, happened, repeat: row.repeat });
  });
  const controls = [...new Set(rows.map((row) => row.control))];
  const failed: string[] = [];
  await inLanes(controls, atOnce, async (one) => {
    const problem = await findingOf(one);
    const without = () => rows.filter((row) => row.control === one).length;
    if (problem !== null) failed.push(`${without()} rows prove nothing, as "${one.what}" fails: ${problem}`);
  });
  const unproven = [...failed, ...blindRows([...rows, ...controls]), ...repeatedNames(rows)];
  return { group, tried: rows.length, succeeded, unproven };
}

/** An attempt that throws was neither repelled nor successful: both would be a guess. */
async function findingOf(one: Control): Promise<Finding> {
  try {
    return await one.run();
  } catch (error) {
    const { message, cause } = error as Error;
    return `no answer: ${message}${cause === undefined ? "" : ` (${String(cause)})`}`;
  }
}

const blindRows = (rows: readonly Control[]): string[] =>
  rows.filter((row) => row.isBlind()).map(({ what }) => `"${what}" would not see a success`);

function repeatedNames(rows: readonly Attack[]): string[] {
  const seen = new Set<string>();
  return rows.flatMap(({ what }) => {
    if (seen.has(what)) return [`"${what}" is there twice`];
    seen.add(what);
    return [];
  });
}

/** Runs the work for every item, as many at a time as there are lanes. */
export async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const rest = items.values();
  const lane = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Prints a group in a few lines: numbers of attacks and successes, and each success with its command. */
export function printReport({ group, tried, succeeded, unproven }: Report, seconds?: number): string {
  const took = seconds === undefined ? "" : `, ${seconds.toFixed(1)} s`;
  const lines = [`${group}: ${tried} tried, ${succeeded.length} succeeded${took}`];
  for (const { what, must, happened, repeat } of succeeded) {
    lines.push(`  ${what}`, `    must:     ${must}`, `    happened: ${happened}`, `    repeat:   ${repeat}`);
  }
  for (const problem of unproven) lines.push(`  not proven: ${problem}`);
  return lines.join("\n");
}

/** Formats the last line: the total of all groups. */
export function printTotal(reports: readonly Report[]): string {
  const sum = (count: (report: Report) => number) => reports.reduce((total, report) => total + count(report), 0);
  const [tried, succeeded, unproven] = [
    sum((report) => report.tried),
    sum((report) => report.succeeded.length),
    sum((report) => report.unproven.length),
  ];
  return `all: ${tried} tried, ${succeeded} succeeded${unproven > 0 ? `, ${unproven} problems with the proof` : ""}`;
}
