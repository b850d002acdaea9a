import type { SpanOptions } from "@signalbox/telemetry";
import { bounded } from "../bounded.ts";
import type { EventLog } from "../event-log.ts";
import { PublishError } from "../publish-error.ts";
import { type OutboxRow, recordOf } from "./outbox-row.ts";

export interface RefusedRow {
  readonly row: OutboxRow;
  readonly reason: string;
}

/**
 * Publishes the rows in order. A page that the log refuses for good is halved until the rows at fault stand alone;
 * these are returned, everything else is on the log. Any other failure is thrown, and the whole page comes again.
 */
export async function publishPage(
  eventLog: EventLog,
  rows: readonly OutboxRow[],
  timeoutMs: number,
): Promise<RefusedRow[]> {
  try {
    // The claim holds back vacuum for the whole database, so a publish may not take as long as it likes.
    await bounded(eventLog.publish(rows.map(recordOf)), timeoutMs, () => lateAfter(timeoutMs));
    return [];
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (rows.length === 1) return rows.map((row) => ({ row, reason: `${error.reason}: ${error.message}` }));
    const middle = rows.length >> 1;
    const before = await publishPage(eventLog, rows.slice(0, middle), timeoutMs);
    return before.concat(await publishPage(eventLog, rows.slice(middle), timeoutMs));
  }
}

/** A missing topic is not the row's fault: its rows wait in the outbox until the topic is there. */
function isRefusal(error: unknown): error is PublishError {
  return error instanceof PublishError && !error.retriable && error.reason !== "unknown-topic";
}

function lateAfter(timeoutMs: number): PublishError {
  return new PublishError("unavailable", `the log did not acknowledge within ${timeoutMs} ms`);
}

const linksMax = 32;

/** A page of one trace continues it; a page of several belongs to none of them and is linked to each. */
export function pageSpan(rows: readonly OutboxRow[]): SpanOptions {
  const traces = [...new Set(rows.flatMap(({ headers }) => /"ce_traceparent":"([^"]+)"/.exec(headers)?.[1] ?? []))];
  const attributes = { "messaging.operation.type": "send", "messaging.batch.message_count": rows.length };
  if (traces.length === 1) return { kind: "producer", attributes, parent: traces[0] };
  return { kind: "producer", attributes, parent: null, links: traces.slice(0, linksMax) };
}
