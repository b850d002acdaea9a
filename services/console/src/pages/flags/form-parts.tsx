import type { ReactNode } from "react";
import { Field } from "../../parts/lists.tsx";
import styles from "./flags.module.css";

interface GroupProps {
  readonly legend: string;
  readonly children: ReactNode;
}

/** Fields that belong together. */
export function Group({ legend, children }: GroupProps) {
  return (
    <fieldset className={styles.group}>
      <legend>{legend}</legend>
      {children}
    </fieldset>
  );
}

interface InputProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly set: (text: string) => void;
}

/** A part of a flag that is typed. */
export function TextField({
  label,
  hint,
  value,
  set,
  type = "text",
}: InputProps & { readonly type?: "text" | "date" | "datetime-local" }) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input
          {...ids}
          type={type}
          step={type === "datetime-local" ? "any" : undefined}
          spellCheck={false}
          autoComplete="off"
          value={value}
          onChange={({ target }) => set(target.value)}
        />
      )}
    </Field>
  );
}

/** A part of a flag that is chosen. A value that is none of the choices, such as a removed variant, stays visible. */
export function SelectField({
  label,
  hint,
  value,
  set,
  choices,
}: InputProps & { readonly choices: readonly string[] }) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => set(target.value)}>
          {!choices.includes(value) && <option value={value}>{value || "choose one"}</option>}
          {[...new Set(choices)].map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      )}
    </Field>
  );
}
