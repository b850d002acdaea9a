import { type ReactNode, useState } from "react";
import { Failure } from "./answer.tsx";
import { submits, useChange } from "./dialog.tsx";
import { fieldsOf, type InputProps, TextField } from "./fields.tsx";
import { Panel } from "./page.tsx";
import parts from "./parts.module.css";

/** The form of a replay, which is counted before it starts, so that nobody sends a million of something by mistake. */
export interface CountedReplay<Input extends object> extends InputProps<Input> {
  readonly counted: Counted | null;
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly countFirst: () => void;
  readonly start: () => void;
}

interface Counted {
  readonly count: number;
  readonly left_out?: number | undefined;
}

/** Counts with `isDryRun`, and starts without. Another input has another count. */
export function useCountedReplay<Input extends object>(
  initial: Input,
  send: (input: Input, isDryRun: boolean) => Promise<Counted | { readonly id: string }>,
): CountedReplay<Input> {
  const [input, setInput] = useState(initial);
  const dryRun = useChange(() => send(input, true));
  const replay = useChange(() => send(input, false), dryRun.reset);
  return {
    input,
    set(changed) {
      setInput({ ...input, ...changed });
      dryRun.reset();
      replay.reset();
    },
    counted: dryRun.data !== undefined && "count" in dryRun.data ? dryRun.data : null,
    error: dryRun.error ?? replay.error,
    isPending: dryRun.isPending || replay.isPending,
    countFirst: () => dryRun.mutate(),
    start: () => replay.mutate(),
  };
}

interface CountFirstProps<Input extends object> {
  readonly title: string;
  readonly lead?: string;
  /** The word for what is done again, such as "Send". */
  readonly verb: string;
  readonly replay: CountedReplay<Input>;
  /** The fields that choose. */
  readonly children: ReactNode;
}

/** The form of a replay: it counts, and then has the button that starts it. */
export function CountFirst<Input extends object>({ title, lead, verb, replay, children }: CountFirstProps<Input>) {
  const { counted, error, isPending } = replay;
  return (
    <Panel title={title}>
      <form onSubmit={submits(replay.countFirst)} className={parts.page}>
        {lead && <p>{lead}</p>}
        <div className={parts.filters}>{children}</div>
        <div className={parts.row}>
          <button type="submit" disabled={isPending}>
            Count first
          </button>
          {counted && (
            <button type="button" className="main" disabled={counted.count === 0 || isPending} onClick={replay.start}>
              {verb} {counted.count.toLocaleString()} again
            </button>
          )}
          <span role="status">
            {counted?.count === 0 && `Nothing matches; there is nothing to ${verb.toLowerCase()} again. `}
            {!!counted?.left_out &&
              `${counted.left_out.toLocaleString()} of endpoints that are not enabled are left out.`}
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
export function bodyOfSpan({ hours, types }: ReplaySpan) {
  const words = types.split(/[\s,]+/).filter((word) => word !== "");
  return { from: hoursAgo(hours), ...(words.length > 0 && { event_types: words }) };
}

export const hoursAgo = (hours: string): string => new Date(Date.now() - Number(hours) * 3_600_000).toISOString();

/** The field of a span's hours. */
export const HoursField = ({ input, set }: InputProps<{ readonly hours: string }>) => (
  <TextField label="Of the last hours" type="number" min={1} required {...fieldsOf(input, set)("hours")} />
);

/** The fields of a span. */
export const SpanFields = ({ input, set }: InputProps<ReplaySpan>) => (
  <>
    <HoursField input={input} set={set} />
    <TextField label="Event types" placeholder="all" {...fieldsOf(input, set)("types")} />
  </>
);
