import styles from "./parts.module.css";

interface ChoiceProps {
  readonly label: string;
  readonly choices: readonly string[];
  /** Null when none of them is what is shown. */
  readonly chosen: string | null;
  readonly choose: (choice: string) => void;
}

/** A few ways to see the same, as buttons of which one is pressed. */
export function Choice({ label, choices, chosen, choose }: ChoiceProps) {
  return (
    <fieldset className={styles.row} aria-label={label}>
      {choices.map((choice) => (
        <button key={choice} type="button" aria-pressed={choice === chosen} onClick={() => choose(choice)}>
          {choice}
        </button>
      ))}
    </fieldset>
  );
}
