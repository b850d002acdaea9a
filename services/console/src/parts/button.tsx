import type { ComponentProps } from "react";
import styles from "./parts.module.css";

interface ButtonProps extends Omit<ComponentProps<"button">, "type" | "children"> {
  readonly label: string;
  /** Made by a press; the button is disabled while it runs. */
  readonly change?: { readonly isPending: boolean; readonly mutate: () => void };
}

/** A button that submits no form. */
export const Button = ({ label, change, ...button }: ButtonProps) => (
  <button type="button" disabled={change?.isPending} onClick={change && (() => change.mutate())} {...button}>
    {label}
  </button>
);

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
