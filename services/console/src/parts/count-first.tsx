import type { FormEvent, ReactNode } from "react";
import { Failure } from "./answer.tsx";
import { useChange } from "./dialog.tsx";
import { Field } from "./lists.tsx";
import { Panel } from "./page.tsx";
import parts from "./parts.module.css";

/** A replay that is counted before it starts, so that nobody sends a million of something by mistake. */
export interface CountedReplay {
  readonly count: number | null;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly countFirst: () => void;
  readonly start: () => void;
  /** Forgets the count: another question has another one. */
  readonly reset: () => void;
}

/** Counts with `send(true)`, and starts with `send(false)`. */
export function useCountedReplay(send: (isDryRun: boolean) => Promise<object>): CountedReplay {
  const dryRun = useChange(() => send(true));
  const replay = useChange(() => send(false), dryRun.reset);
  return {
    count: dryRun.data !== undefined && "count" in dryRun.data ? Number(dryRun.data.count) : null,
    error: dryRun.error ?? replay.error,
    isPending: dryRun.isPending || replay.isPending,
    countFirst: () => dryRun.mutate(),
    start: () => replay.mutate(),
    reset: () => {
      dryRun.reset();
      replay.reset();
    },
  };
}

interface CountFirstProps {
  readonly title: string;
  /** The word for what is done again, such as "Send". */
  readonly verb: string;
  readonly replay: CountedReplay;
  /** The fields that choose. */
  readonly children: ReactNode;
}

/** The form of a replay: it counts, and then has the button that starts it. */
export function CountFirst({ title, verb, replay, children }: CountFirstProps) {
  const { count, error, isPending } = replay;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    replay.countFirst();
  };
  return (
    <Panel title={title}>
      <form onSubmit={submit} className={parts.page}>
        {children}
        <div className={parts.row}>
          <button type="submit" disabled={isPending}>
            Count first
          </button>
          {count !== null && (
            <button type="button" className="main" disabled={count === 0 || isPending} onClick={replay.start}>
              {verb} {count.toLocaleString()} again
            </button>
          )}
          <span role="status">
            {count === 0 && `Nothing matches; there is nothing to ${verb.toLowerCase()} again.`}
          </span>
        </div>
        {error && <Failure error={error} what="replay" />}
      </form>
    </Panel>
  );
}

/** The time back from now, and the types, that a replay is of; no types are all. */
export interface ReplaySpan {
  readonly hours: string;
  readonly types: string;
}

/** The members of a replay's body that a span says. */
export function bodyOfSpan({ hours, types }: ReplaySpan, isDryRun: boolean) {
  const words = types.split(/[\s,]+/).filter((word) => word !== "");
  return {
    from: new Date(Date.now() - Number(hours) * 3_600_000).toISOString(),
    dry_run: isDryRun,
    ...(words.length > 0 && { event_types: words }),
  };
}

interface SpanFieldsProps {
  readonly typesLabel: string;
  readonly span: ReplaySpan;
  readonly set: (changed: Partial<ReplaySpan>) => void;
}

/** The fields of a span. */
export function SpanFields({ typesLabel, span, set }: SpanFieldsProps) {
  return (
    <>
      <Field label="Of the last hours">
        {(ids) => (
          <input
            {...ids}
            type="number"
            min={1}
            required
            value={span.hours}
            onChange={({ target }) => set({ hours: target.value })}
          />
        )}
      </Field>
      <Field label={typesLabel}>
        {(ids) => (
          <input
            {...ids}
            placeholder="all"
            value={span.types}
            onChange={({ target }) => set({ types: target.value })}
          />
        )}
      </Field>
    </>
  );
}
