import { type ComponentProps, type ReactNode, useRef, useState } from "react";
import { useDraft } from "../session/drafts.ts";
import { Undo } from "./dialog.tsx";
import { type Difference, differencesOf } from "./differences.ts";
import { Conflict } from "./edit.tsx";
import { TrialForm, useTrial } from "./trial.tsx";

/** Typed values with the version that they are based on. */
interface Begun<Input, On> {
  readonly input: Input;
  /** Default: the version of now. */
  readonly on?: On;
}

/** Takes a change back, and says how the form goes on then; null where it stays as it is. */
type TakeBack<Input, On> = () => Promise<Begun<Input, On> | null>;

interface TrialEditOptions<Input, On, Tried, Made> {
  /** Tells its draft from those of other forms of the page. */
  readonly name: string;
  /** Input of a person who has typed nothing. */
  readonly initial: Input;
  /** The version of now. */
  readonly now: On;
  readonly tryIt: (input: Input, on: On) => Promise<Tried>;
  readonly make: (input: Input, on: On) => Promise<Made>;
  /** Says how the form goes on after a change, and what takes it back. */
  readonly onMade: (
    made: Made,
    sent: Input,
    on: On,
  ) => {
    readonly next: Begun<Input, On>;
    readonly takeBack: TakeBack<Input, On> | null;
    /** Leads to another page, which waits until nothing is unsent. */
    readonly leave?: () => void;
  };
}

/**
 * Edits something by a change that is tried first, then made, and can be taken back. What is typed is kept for the session,
 * together with the version that it is based on.
 */
export function useTrialEdit<Input extends object, On, Tried, Made>(options: TrialEditOptions<Input, On, Tried, Made>) {
  const { name, initial, now, tryIt, make, onMade } = options;
  const { draft, keep, settle, drop, isUnsent } = useDraft<Begun<Input, On>>(name, (begun) => begun);
  const { input, on = now } = draft ?? { input: initial };
  const typed = useRef(input);
  typed.current = input;
  const [takeBack, setTakeBack] = useState<TakeBack<Input, On> | null>(null);
  const goOn = (next: Begun<Input, On>) => {
    keep(next);
    settle();
  };
  const trial = useTrial(
    async () => tryIt(input, on),
    async (base: On) => ({ made: await make(input, base), sent: input, base }),
    ({ made, sent, base }) => {
      const { next, takeBack, leave } = onMade(made, sent, base);
      // What was typed while the answer was on its way is kept.
      if (typed.current === sent) goOn(next);
      else keep({ ...next, input: typed.current });
      setTakeBack(() => takeBack);
      leave?.();
    },
  );
  const begin = (next: Begun<Input, On>) => {
    // A form with nothing to change may be left.
    if (differencesOf(next.input, initial).length > 0) keep(next);
    else drop();
    trial.reset();
  };
  return {
    input,
    on,
    trial: { ...trial, made: trial.made?.made },
    begin,
    set: (changed: Partial<Input>) => begin({ input: { ...input, ...changed }, on }),
    /** Shows the same values in another way. */
    look(shown: Input) {
      if (isUnsent()) keep({ input: shown, on });
      else goOn({ input: shown, on });
      trial.reset();
    },
    takeBack,
    onTakenBack(next: Begun<Input, On> | null) {
      setTakeBack(null);
      if (next) goOn(next);
    },
  };
}

type TrialEdit<Input extends object, On, Tried, Made> = ReturnType<typeof useTrialEdit<Input, On, Tried, Made>>;

interface TrialEditFormProps<Input extends object, On, Tried, Made>
  extends Omit<ComponentProps<typeof TrialForm>, "trial" | "onMake" | "beside"> {
  readonly edit: TrialEdit<Input, On, Tried, Made>;
  readonly now: On;
  /** Shown below the form, such as the result. */
  readonly after?: ReactNode;
  /** The fields in which what was typed differs from what somebody else has set meanwhile. */
  readonly differences: () => readonly Difference[];
  /** Input that takes what somebody else has set. */
  readonly theirs: () => Input;
}

/** The form of a change that is tried first, what takes it back, and both versions when somebody else was quicker. */
export function TrialEditForm<Input extends object, On, Tried, Made>(
  props: TrialEditFormProps<Input, On, Tried, Made>,
) {
  const { edit, now, after, differences, theirs, ...form } = props;
  const { trial, takeBack, onTakenBack } = edit;
  return (
    <>
      <TrialForm {...form} trial={trial} onMake={() => trial.make(edit.on)} />
      {after}
      {takeBack && <Undo what={form.what} run={takeBack} onDone={onTakenBack} />}
      {trial.hasChanged && (
        <Conflict
          what={form.what}
          differences={differences()}
          onMine={() => trial.make(now)}
          onBack={trial.reset}
          onTheirs={() => edit.begin({ input: theirs() })}
        />
      )}
    </>
  );
}
