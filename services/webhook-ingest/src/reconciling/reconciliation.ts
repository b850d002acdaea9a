/** Reasons for which a source is compared with its sender's list. */
export const reconciliationTriggers = ["key", "schedule", "outage", "rejections", "request"] as const;

export const reconciliationStatuses = ["running", "completed", "failed"] as const;

/** One comparison of what a source received with what its sender says it sent. */
// Not an interface: `table` takes rows as records.
export type Reconciliation = {
  readonly id: string;
  readonly sourceId: string;
  readonly accountId: string;
  readonly trigger: (typeof reconciliationTriggers)[number];
  readonly outageId: string | null;
  /** A dry run counts what is missing and recovers nothing. */
  readonly dryRun: boolean;
  readonly status: (typeof reconciliationStatuses)[number];
  /** Stable word: of a failure, or `more_to_come` for a run that ended at its limit. */
  readonly reason: string | null;
  readonly fromAt: Date;
  readonly toAt: Date;
  /** Position in the sender's list; null at its beginning. */
  readonly position: string | null;
  readonly isListed: boolean;
  /** Number of failed webhooks that the sender listed. */
  readonly listed: number;
  readonly missed: number;
  readonly recovered: number;
  readonly missedFrom: Date | null;
  readonly missedTo: Date | null;
  /** Failures of the sender in a row. */
  readonly failures: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
};

/** The webhooks that were missed between two times, and those of them that were recovered. */
interface MissedReport {
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly missed: number;
  readonly recovered: number;
}

/** A time in which no instance received webhooks, with what an account missed in it. */
export interface Outage extends MissedReport {
  readonly id: string;
  readonly createdAt: Date;
  /** Number of comparisons that still run. */
  readonly running: number;
}

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
