import { ApiError } from "@signalbox/client";
import type { ReactNode } from "react";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import { submits } from "./form.tsx";
import styles from "./parts.module.css";
import { useChange } from "./use-change.ts";

/** A change that is tried before it is made. */
export interface Trial<Tried, Made, On = void> {
  /** The answer of the trial, until it is made or something else is typed. */
  readonly tried: Tried | undefined;
  readonly made: Made | undefined;
  readonly error: Error | null;
  /** True when somebody else has changed it since it was seen. */
  readonly hasChanged: boolean;
  readonly isPending: boolean;
  readonly tryIt: () => void;
  readonly make: (on: On) => void;
  /** Forgets both answers: another question has another one. */
  readonly reset: () => void;
}

/** Tries a change, and makes it. */
export function useTrial<Tried, Made, On = void>(
  tryIt: () => Promise<Tried>,
  make: (on: On) => Promise<Made>,
  onDone?: (made: Made) => void,
  kept?: string,
): Trial<Tried, Made, On> {
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
    tried: hasChanged ? undefined : dryRun.data,
    made: change.data,
    error,
    hasChanged,
    isPending: dryRun.isPending || change.isPending,
    tryIt() {
      change.reset();
      dryRun.mutate();
    },
    make: change.mutate,
    reset() {
      dryRun.reset();
      change.reset();
    },
  };
}

interface TrialFormProps {
  readonly trial: Pick<Trial<unknown, unknown>, "tried" | "error" | "hasChanged" | "isPending" | "tryIt">;
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
