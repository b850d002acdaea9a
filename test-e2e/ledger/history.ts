import { appendFileSync } from "node:fs";

export type Outcome = "ok" | "fail" | "info";
// biome-ignore lint/suspicious/noExplicitAny: each operation has members of its own; writer and invariant share their names.
export type Value = Readonly<Record<string, any>>;

/** One line of the history. `fail` certainly had no effect; `info` may have one, now or later. */
export interface Entry {
  /** Milliseconds; never decreases within a run. */
  readonly t: number;
  /** The actor: a writer, a prober, or the source of faults. */
  readonly process: string;
  readonly op: string;
  readonly id: string;
  readonly type: "invoke" | Outcome;
  readonly value?: Value;
}

/** A request and its outcome. */
export interface Operation {
  readonly id: string;
  readonly process: string;
  readonly op: string;
  readonly value: Value;
  readonly invokedAt: number;
  readonly outcome: Outcome;
  /** Infinite for an operation that never ended. */
  readonly endedAt: number;
  /** Values from the answer. */
  readonly answer: Value;
}

export interface History {
  readonly entries: readonly Entry[];
  /** Records the start of an operation, and returns a function that records its end. */
  begin(process: string, op: string, value?: Value): (type: Outcome, answer?: Value) => void;
  now(): number;
}

/** Keeps entries in order, in memory and, with `file`, as JSON lines that outlive this process. */
export function createHistory(file: string | null = null): History {
  const entries: Entry[] = [];
  let count = 0;
  const write = (entry: Entry) => {
    entries.push(entry);
    if (file) appendFileSync(file, `${JSON.stringify(entry)}\n`);
  };
  const now = () => performance.timeOrigin + performance.now();
  return {
    entries,
    now,
    begin(process, op, value = {}) {
      const id = `${op}-${++count}`;
      write({ t: now(), process, op, id, type: "invoke", value });
      return (type, answer = {}) => write({ t: now(), process, op, id, type, value: answer });
    },
  };
}

/** Pairs starts and ends. An operation that never ended counts as `info`. */
export function operationsOf(entries: readonly Entry[]): Operation[] {
  const ends = new Map(entries.filter(({ type }) => type !== "invoke").map((entry) => [entry.id, entry]));
  return entries
    .filter(({ type }) => type === "invoke")
    .map(({ id, process, op, t, value = {} }) => {
      const end = ends.get(id);
      return {
        id,
        process,
        op,
        value,
        invokedAt: t,
        outcome: (end?.type ?? "info") as Outcome,
        endedAt: end?.t ?? Number.POSITIVE_INFINITY,
        answer: end?.value ?? {},
      };
    });
}
