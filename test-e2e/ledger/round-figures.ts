import type { Evidence, LogRecord } from "./evidence.ts";
import type { Fault } from "./faults/fault.ts";
import type { RoundResult } from "./round.ts";

/** The figures of a round in the reference table. */
export interface RoundFigures {
  readonly fault: string;
  readonly acknowledged: number;
  /** Number of records on event topics, and of copies among them. */
  readonly records: number;
  readonly repeatedOnLog: number;
  readonly receipts: number;
  /** Number of receipts that had already been answered 200. */
  readonly repeatedAtReceiver: number;
  readonly violations: number;
  /** From the end of the fault until a change that was made after it arrived at the receiver. */
  readonly recoveryMs: number;
  /** From the end of the fault until every killed process runs again. Absent of an unfinished round. */
  readonly undoMs?: number;
  /** From the last write until nothing was pending. */
  readonly settleMs: number;
  /** Writes that began while the fault lasted, and those of them that were refused or answered only after it. */
  readonly writesInFault?: number;
  readonly heldUp?: number;
}

/** Topics that repeat themselves on purpose, so that compaction cannot lose the newest. */
const stateTopics = new Set(["signalbox.access.v1", "signalbox.config.v1"]);

const reads = new Set(["probe", "fault", "residue", "sign-url", "open-url"]);

export function figuresOf(
  fault: Fault,
  { evidence, recoveryMs, undoMs, settleMs }: RoundResult,
  violations: number,
): RoundFigures {
  const [span] = evidence.faults;
  const writes = evidence.operations.filter(({ op }) => !reads.has(op));
  const inFault = writes.filter(({ invokedAt }) => span && invokedAt >= span.from && invokedAt < span.undoneFrom);
  const heldUp = inFault.filter(({ outcome, endedAt }) => outcome !== "ok" || endedAt > (span?.undoneFrom ?? 0));
  const facts = evidence.log.filter(({ topic }) => !stateTopics.has(topic));
  return {
    fault: fault.name,
    acknowledged: writes.filter(({ outcome }) => outcome === "ok").length,
    records: facts.length,
    repeatedOnLog: facts.length - new Set(facts.map(copyOf)).size,
    receipts: evidence.received.length,
    repeatedAtReceiver: repeatedAfterSuccess(evidence.received),
    violations,
    recoveryMs,
    undoMs,
    settleMs,
    writesInFault: inFault.length,
    heldUp: heldUp.length,
  };
}

/** A round without evidence. */
export const unfinished = ({ name }: Fault): RoundFigures => ({
  fault: name,
  acknowledged: 0,
  records: 0,
  repeatedOnLog: 0,
  receipts: 0,
  repeatedAtReceiver: 0,
  violations: 1,
  recoveryMs: Number.POSITIVE_INFINITY,
  settleMs: Number.POSITIVE_INFINITY,
});

const copyOf = ({ topic, eventId }: LogRecord) => `${topic} ${eventId}`;

function repeatedAfterSuccess(receipts: Evidence["received"]): number {
  const taken = new Set<string>();
  let repeated = 0;
  for (const { endpoint, eventId, status, replay } of receipts) {
    // A replay is intended; a repetition within it is not.
    const what = `${endpoint} ${eventId} ${replay}`;
    if (taken.has(what)) repeated++;
    if (status === 200) taken.add(what);
  }
  return repeated;
}
