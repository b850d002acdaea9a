import type { RecordedFigure } from "./history.ts";

/** Reads the newest value of a figure, and numbers in the words of its baseline. */
export type Figures = ReturnType<typeof figuresIn>;

/** Finds recorded figures by bench and name. @throws Error for one that was never recorded */
export function figuresIn(history: readonly RecordedFigure[]) {
  const newest = new Map(history.map((row) => [`${row.bench} ${row.figure}`, row]));

  function find(bench: string, figure: string): RecordedFigure {
    const row = newest.get(`${bench} ${figure}`);
    if (!row)
      throw new Error(`bench/history.jsonl has no figure "${figure}" of ${bench}, which the capacity page needs`);
    return row;
  }

  return {
    find,
    value: (bench: string, figure: string): number => find(bench, figure).value,
    /** The first number in the baseline, such as the rate of the server that the value is a share of. */
    baseline(bench: string, figure: string): number {
      const { baseline } = find(bench, figure);
      const number = Number.parseFloat(/[\d,.]+/.exec(baseline ?? "")?.[0]?.replaceAll(",", "") ?? "");
      if (Number.isNaN(number)) throw new Error(`the baseline of "${figure}" of ${bench} has no number: ${baseline}`);
      return number;
    },
    /** All newest figures of a bench; none before its first run. */
    ofBench: (bench: string): RecordedFigure[] => [...newest.values()].filter((row) => row.bench === bench),
  };
}

/** Costs of one unit of work, as the capacity page multiplies them. */
export interface Costs {
  /** Processor time of our processes per event that is published and delivered, in milliseconds. */
  readonly publishedMs: number;
  /** The rest of the two cores at the largest rate: PostgreSQL, and the load itself. */
  readonly databaseMs: number;
  readonly publishedWalKiB: number;
  readonly acceptedWalKiB: number;
  readonly deliveredWalKiB: number;
  /** Bytes on disk of an event of 1 kB with one delivery and its attempt. */
  readonly eventBytes: number;
  readonly webhookBytes: number;
}

export const benchCores = 2;
export const bodyBytes = 1_000;

export function costsOf({ value, baseline }: Figures): Costs {
  const bytes = (table: string) => value("rows", table);
  const publishedMs = value("publish", "processor per published and delivered event");
  const rate = value("publish", "published by one account on 32 connections");
  return {
    publishedMs,
    databaseMs: Math.max(0, (benchCores * 1_000) / rate - publishedMs),
    publishedWalKiB: baseline("costs", "publish an event and deliver it"),
    acceptedWalKiB: baseline("costs", "accept a webhook"),
    deliveredWalKiB: value("delivery", "WAL per delivery"),
    eventBytes: bytes("webhook_events") + bodyBytes + bytes("deliveries") + bytes("delivery_attempts"),
    webhookBytes: bytes("received_deliveries") + bytes("received_keys") + bodyBytes,
  };
}
