import type { ComponentProps, ReactNode } from "react";
import { SelectField as PlainSelectField, TextField as PlainTextField } from "../../parts/fields.tsx";
import styles from "./flags.module.css";

/** Fields that belong together. */
export function Group({ legend, children }: { readonly legend: string; readonly children: ReactNode }) {
  return (
    <fieldset className={styles.group}>
      <legend>{legend}</legend>
      {children}
    </fieldset>
  );
}

/** A part of a flag that is typed. */
export const TextField = (props: ComponentProps<typeof PlainTextField>) => (
  <PlainTextField
    step={props.type === "datetime-local" ? "any" : undefined}
    spellCheck={false}
    autoComplete="off"
    {...props}
  />
);

interface SelectProps extends Omit<ComponentProps<typeof PlainSelectField>, "choices"> {
  readonly choices: readonly string[];
}

/** A part of a flag that is chosen. A value that is none of the choices, such as a removed variant, stays visible. */
export function SelectField({ choices, ...props }: SelectProps) {
  const { value } = props;
  const unknown = choices.includes(value) ? [] : [[value, value || "choose one"] as const];
  return <PlainSelectField choices={[...unknown, ...new Set(choices)]} {...props} />;
}
