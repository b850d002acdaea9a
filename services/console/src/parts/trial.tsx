import { ApiError } from "@signalbox/client";
import type { ReactNode } from "react";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import { submits } from "./form.tsx";
import styles from "./parts.module.css";
import { useChange } from "./use-change.ts";

/** A change that is tried before it is made. */
export function useTrial<Tried, Made, On = void>(
  tryIt: () => Promise<Tried>,
  make: (on: On) => Promise<Made>,
  onDone?: (made: Made) => void,
  kept?: string,
) {
  const dryRun = useChange(tryIt, undefined, kept);
  const change = useChange(
    make,
    (made: Made) => {
      dryRun.reset();
      onDone?.(made);
    },
    kept,
  );
  const error = change.error ?? dryRun.error;
  const hasChanged = error instanceof ApiError && error.status === 409;
  return {
    /** The answer of the trial, until it is made or something else is typed. */
    tried: hasChanged ? undefined : dryRun.data,
    made: change.data,
    error,
    /** True when somebody else has changed it since it was seen. */
    hasChanged,
    isPending: dryRun.isPending || change.isPending,
    tryIt() {
      change.reset();
      dryRun.mutate();
    },
    make: (on: On) => change.mutate(on),
    /** Forgets both answers: another question has another one. */
    reset() {
      dryRun.reset();
      change.reset();
    },
  };
}

type Trial = ReturnType<typeof useTrial<unknown, unknown>>;

interface TrialFormProps {
  readonly trial: Pick<Trial, "tried" | "error" | "hasChanged" | "isPending" | "tryIt">;
  /** The thing that changes, for a refusal. */
  readonly what: string;
  readonly tryLabel?: string;
  readonly makeLabel: string;
  readonly isDanger?: boolean;
  /** False where the trial shows that there is nothing to do. */
  readonly isWorthIt?: boolean;
  readonly onMake: () => void;
  /** Says what was tried or made. */
  readonly preview: ReactNode;
  readonly beside?: ReactNode;
  readonly children?: ReactNode;
}

/** The form of a change that is tried first: once the trial went well it has the button that makes the change. */
export function TrialForm(props: TrialFormProps) {
  const { trial, what, tryLabel = "Preview", makeLabel, isDanger = false, isWorthIt = true, onMake } = props;
  const { tried, error, hasChanged, isPending, tryIt } = trial;
  return (
    <form className={styles.page} onSubmit={submits(tryIt)}>
      {props.children}
      {error && !hasChanged && <Failure error={error} what={what} />}
      <div role="status">{props.preview}</div>
      <div className={styles.row}>
        <button type="submit" disabled={isPending}>
          {tryLabel}
        </button>
        {tried !== undefined && (
          <Button
            label={makeLabel}
            className={isDanger ? "danger" : "main"}
            disabled={isPending || !isWorthIt}
            onClick={onMake}
          />
        )}
        {props.beside}
      </div>
    </form>
  );
}
