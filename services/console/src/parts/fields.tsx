import { type ComponentProps, type ReactNode, useId } from "react";
import { Prose } from "./inline.tsx";
import styles from "./parts.module.css";

interface Labelled {
  readonly label: string;
  readonly hint?: string | undefined;
}

interface FieldProps extends Labelled {
  readonly children: (ids: { readonly id: string; readonly "aria-describedby": string | undefined }) => ReactNode;
}

/** An input of a form with its label and a hint. */
function Field({ label, hint, children }: FieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>
        <strong>{label}</strong>
      </label>
      {children({ id, "aria-describedby": hint === undefined ? undefined : hintId })}
      {hint !== undefined && (
        <small id={hintId}>
          <Prose text={hint} />
        </small>
      )}
    </div>
  );
}

/** The input of a form, and what its fields change it with. */
export interface InputProps<Input> {
  readonly input: Input;
  readonly set: (changed: Partial<Input>) => void;
}

/** A value of a form, and the way to change it. */
export interface Bound<Value> {
  readonly value: Value;
  readonly set: (value: Value) => void;
}

/** Values to choose from, each alone or with its words. */
export type Choices<Value extends string = string> = ReadonlyArray<Value | readonly [value: Value, words: string]>;

/** The options of a select. */
export const optionsOf = (choices: Choices) =>
  choices.map((choice) => {
    const [value, words] = typeof choice === "string" ? [choice, choice] : choice;
    return (
      <option key={value} value={value}>
        {words}
      </option>
    );
  });

interface SelectProps<Value extends string> extends Labelled, Bound<Value> {
  readonly choices: Choices<Value>;
  readonly required?: boolean;
}

/** One of some choices. A value that is none of them, such as one that was removed, stays visible. */
export function SelectField<Value extends string>({ label, hint, choices, set, ...select }: SelectProps<Value>) {
  const { value } = select;
  const isKnown = choices.some((choice) => value === (typeof choice === "string" ? choice : choice[0]));
  const unknown: Choices = isKnown ? [] : [[value, value || "choose one"]];
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <select {...ids} {...select} onChange={({ target }) => set(target.value as Value)}>
          {optionsOf([...unknown, ...choices])}
        </select>
      )}
    </Field>
  );
}

/** Yes or no. */
const CheckField = ({ label, value, set }: Labelled & Bound<boolean>) => (
  <label className={styles.check}>
    <input type="checkbox" checked={value} onChange={({ target }) => set(target.checked)} />
    {label}
  </label>
);

/** A field of a form in data: a choice, a text on several lines, or one on one line. A yes or no needs its label alone. */
export interface FieldData extends Labelled, Omit<ComponentProps<"input">, "value" | "onChange" | "children"> {
  readonly choices?: Choices;
  /** Lines of a text on several. */
  readonly rows?: number;
  /** True for sentences, which a browser may check and fill in. */
  readonly isProse?: boolean;
  /** True for what is not kept for the session, as no password is. */
  readonly isSecret?: boolean;
}

/** The field of the reason of a change; where it may be left out, the hint says so. */
export const reasonField = (hint: string, maxLength = 500, required = true) =>
  ({ label: "Reason", hint, required, maxLength, isProse: true }) as const;

/** The field that fits its data and the kind of its value. */
export function FieldOf(field: (FieldData & Bound<string>) | (FieldData & Bound<boolean>)) {
  if (typeof field.value === "boolean") return <CheckField {...(field as Labelled & Bound<boolean>)} />;
  const { choices, rows, isProse = false, isSecret: _, label, hint, set, ...text } = field as FieldData & Bound<string>;
  const { value, required = false } = text;
  if (choices) return <SelectField {...{ label, hint, required, choices, value, set }} />;
  const typed = {
    autoComplete: isProse ? "on" : "off",
    spellCheck: isProse,
    ...text,
    onChange: ({ target }: { readonly target: { readonly value: string } }) => set(target.value),
  };
  return (
    <Field label={label} hint={hint}>
      {(ids) =>
        rows ? (
          <textarea {...ids} rows={rows} {...(typed as ComponentProps<"textarea">)} />
        ) : (
          <input {...ids} {...typed} />
        )
      }
    </Field>
  );
}
