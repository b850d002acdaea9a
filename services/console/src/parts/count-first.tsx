import { useState } from "react";
import { Fields, type FieldsData } from "./form.tsx";
import { Panel } from "./page.tsx";
import parts from "./parts.module.css";
import { wordsIn } from "./read-text.ts";
import { TrialForm, useTrial } from "./trial.tsx";

interface Counted {
  readonly count: number;
  readonly left_out?: number | undefined;
}

/**
 * The form of a replay, which is counted with `isDryRun` before it starts, so that nobody sends a million of something by
 * mistake. Another input has another count.
 */
export function useCountedReplay<Input extends object>(
  initial: Input,
  send: (input: Input, isDryRun: boolean) => Promise<Counted | { readonly id: string }>,
) {
  const [input, setInput] = useState(initial);
  const trial = useTrial(
    () => send(input, true),
    () => send(input, false),
  );
  const set = (changed: Partial<Input>) => {
    setInput({ ...input, ...changed });
    trial.reset();
  };
  return { input, set, trial };
}

interface CountFirstProps<Input extends object> {
  readonly title: string;
  readonly lead?: string;
  /** The word for what is done again, such as "Send". */
  readonly verb: string;
  readonly replay: ReturnType<typeof useCountedReplay<Input>>;
  readonly fields: FieldsData<Input>;
}

/** The form of a replay: it counts, and then has the button that starts it. */
export function CountFirst<Input extends object>({ title, lead, verb, replay, fields }: CountFirstProps<Input>) {
  const { input, set, trial } = replay;
  const { count, left_out: leftOut = 0 } = trial.tried && "count" in trial.tried ? trial.tried : { count: 0 };
  return (
    <Panel title={title}>
      <TrialForm
        trial={trial}
        what="replay"
        tryLabel="Count first"
        makeLabel={`${verb} ${count.toLocaleString()} again`}
        isWorthIt={count > 0}
        onMake={trial.make}
        preview={
          trial.tried && (
            <>
              {count === 0 && `Nothing matches; there is nothing to ${verb.toLowerCase()} again. `}
              {leftOut > 0 && `${leftOut.toLocaleString()} to endpoints that are not enabled are left out.`}
            </>
          )
        }
      >
        {lead && <p>{lead}</p>}
        <div className={parts.filters}>
          <Fields input={input} set={set} fields={fields} />
        </div>
      </TrialForm>
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
  const words = wordsIn(types);
  return { from: hoursAgo(hours), ...(words.length > 0 && { event_types: words }) };
}

export const hoursAgo = (hours: string): string => new Date(Date.now() - Number(hours) * 3_600_000).toISOString();

/** The field of a span's hours. */
export const hoursField = { label: "Last hours", type: "number", min: 1, required: true } as const;

/** The fields of a span. */
export const spanFields = { hours: hoursField, types: { label: "Event types", placeholder: "all" } } as const;
