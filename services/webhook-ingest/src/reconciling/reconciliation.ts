import type { Outage as OutageRow, Reconciliation as Row } from "../generated/prisma/client.ts";

export const reconciliationTriggers = ["key", "schedule", "outage", "rejections", "request"] as const;

export const reconciliationStatuses = ["running", "completed", "failed"] as const;

/** One comparison of what a source received with what its sender says it sent. */
export interface Reconciliation extends Omit<Row, "trigger" | "status"> {
  readonly trigger: (typeof reconciliationTriggers)[number];
  readonly status: (typeof reconciliationStatuses)[number];
}

/** A time in which no instance received webhooks, with what an account missed in it. */
export interface Outage extends OutageRow {
  readonly missed: number;
  readonly recovered: number;
  readonly running: number;
}

type MissedReport = Omit<Outage, "id" | "createdAt" | "running">;

const count = new Intl.NumberFormat("en-US");

/** Returns the report in one line, in UTC: `14:02–15:01: 4,000 missed, 4,000 recovered`. */
export function summaryOf({ fromAt, toAt, missed, recovered }: MissedReport): string {
  const [from, to] = [fromAt.toISOString(), toAt.toISOString()];
  const isOneDay = from.slice(0, 10) === to.slice(0, 10);
  const short = (text: string) => (isOneDay ? text.slice(11, 16) : `${text.slice(0, 10)} ${text.slice(11, 16)}`);
  const found =
    missed === 0 ? "nothing missed" : `${count.format(missed)} missed, ${count.format(recovered)} recovered`;
  return `${short(from)}–${short(to)}: ${found}`;
}

/** Returns the report of a run, over the time in which webhooks were missed where there were any. */
export const runSummaryOf = ({ fromAt, toAt, missedFrom, missedTo, missed, recovered }: Reconciliation): string =>
  summaryOf({ fromAt: missedFrom ?? fromAt, toAt: missedTo ?? toAt, missed, recovered });
