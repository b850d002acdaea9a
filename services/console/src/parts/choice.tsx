import { Button } from "./button.tsx";
import styles from "./parts.module.css";

interface ChoiceProps<Name extends string> {
  readonly label: string;
  readonly choices: readonly Name[];
  /** Null when none of them is what is shown. */
  readonly chosen: Name | null;
  readonly choose: (choice: Name) => void;
}

/** A few ways to see the same, as buttons of which one is pressed. */
export const Choice = <Name extends string>({ label, choices, chosen, choose }: ChoiceProps<Name>) => (
  <fieldset className={styles.row} aria-label={label}>
    {choices.map((choice) => (
      <Button label={choice} key={choice} aria-pressed={choice === chosen} onClick={() => choose(choice)} />
    ))}
  </fieldset>
);
