import { useState } from "react";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import { Box, useChange } from "./dialog.tsx";
import { SelectField } from "./fields.tsx";
import styles from "./parts.module.css";

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
  const [isOpen, setOpen] = useState(false);
  const [overlap, setOverlap] = useState(initial);
  const rotation = useChange(
    () => rotate(overlap),
    (result) => {
      setOpen(false);
      onDone(result);
    },
  );
  return (
    <>
      <Button label={label} onClick={() => setOpen(true)} />
      <Box title={label} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>{text}</p>
        <SelectField
          label={field}
          choices={choices.map(([seconds, words]) => [String(seconds ?? ""), words])}
          value={String(overlap ?? "")}
          set={(seconds) => setOverlap(seconds === "" ? null : Number(seconds))}
        />
        {rotation.error && <Failure error={rotation.error} what={what} />}
        <div className={styles.row}>
          <Button label={label} className="main" change={rotation} />
          <Button label="Cancel" onClick={() => setOpen(false)} />
        </div>
      </Box>
    </>
  );
}
