import type { Report } from "./run-attacks.ts";

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
