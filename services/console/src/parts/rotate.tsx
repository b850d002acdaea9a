import { FormAction } from "./form.tsx";

const daySeconds = 86_400;

/** Times for which an old secret goes on beside the new one. */
const overlaps: readonly Overlap[] = [
  [0, "none: the old one leaked"],
  [3_600, "an hour"],
  [daySeconds, "a day"],
  [7 * daySeconds, "a week"],
];

/** Seconds, or null for what the API does by itself, and the words for it. */
export type Overlap = readonly [seconds: number | null, text: string];

interface RotateProps<Result> {
  /** The button and the title of its dialog. */
  readonly label: string;
  /** The thing that is rotated, for a refusal. */
  readonly what: string;
  /** A sentence about the consequence. */
  readonly text: string;
  readonly field?: string;
  readonly choices?: readonly Overlap[];
  readonly initial?: number | null;
  readonly rotate: (overlapSeconds: number | null) => Promise<Result>;
  readonly onDone: (result: Result) => void;
}

/** A button with the dialog that makes a new secret and says until when the old one goes on. */
export function Rotate<Result>(props: RotateProps<Result>) {
  const { label, what, text, field = "Overlap", choices = overlaps, initial = daySeconds, rotate, onDone } = props;
  return (
    <FormAction
      label={label}
      title={`${label}: ${what}`}
      submitLabel={label}
      what={what}
      initial={{ seconds: String(initial ?? "") }}
      fields={{
        seconds: { label: field, choices: choices.map(([seconds, words]) => [String(seconds ?? ""), words]) },
      }}
      run={({ seconds }) => rotate(seconds === "" ? null : Number(seconds))}
      onDone={onDone}
    >
      <p>{text}</p>
    </FormAction>
  );
}
