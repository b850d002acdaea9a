import { Fragment, type ReactNode, type SubmitEvent, useState } from "react";
import { useDraft } from "../session/drafts.ts";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import { Box } from "./dialog.tsx";
import { type Bound, type FieldData, FieldOf, type InputProps } from "./fields.tsx";
import styles from "./parts.module.css";
import { useChange } from "./use-change.ts";

/** The fields of a form by the members of its input. One of another kind is a function of its value. */
export type FieldsData<Input> = {
  readonly [Name in keyof Input]?: FieldData | ((bound: Bound<Input[Name]>) => ReactNode) | false;
};

interface FieldsProps<Input> extends InputProps<Input> {
  readonly fields: FieldsData<Input>;
}

/** The fields of a form, one below the other. */
export function Fields<Input extends object>({ input, set, fields }: FieldsProps<Input>) {
  return (Object.keys(fields) as (keyof Input & string)[]).map((name) => {
    const data = fields[name];
    if (!data) return null;
    const bound = {
      value: input[name],
      set: (value: Input[typeof name]) => set({ [name]: value } as unknown as Partial<Input>),
    };
    return (
      <Fragment key={name}>
        {typeof data === "function" ? data(bound) : <FieldOf {...data} {...(bound as unknown as Bound<string>)} />}
      </Fragment>
    );
  });
}

/** Handles the submission of a form. */
export const submits = (act: () => void) => (event: SubmitEvent) => {
  event.preventDefault();
  act();
};

interface FormLook {
  /** The thing that changes, for a refusal. */
  readonly what: string;
  /** The words of the button that does it. */
  readonly submitLabel: string;
  readonly kind?: "main" | "danger";
  readonly className?: string | undefined;
  readonly label?: string;
  /** Shown beside the button, such as a way out. */
  readonly beside?: ReactNode;
}

interface FormProps<Input, Result> extends FormLook {
  /** Tells its draft from those of other forms of the page. Default: what it does. */
  readonly name?: string;
  /** The values of the fields before anybody types. */
  readonly initial: Input;
  readonly fields?: FieldsData<Input> | ((input: Input) => FieldsData<Input>);
  /** Leaves typed secrets out of an input that is kept. Default: those that the fields name. */
  readonly withoutSecrets?: (input: Input) => Input;
  /** Sends the input. Ends are reckoned from the opening of the form, so that a second press has the same content. */
  readonly run: (input: Input, openedMs: number) => Promise<Result>;
  readonly onDone?: (result: Result) => void;
  /** False until the person has typed what makes it possible. */
  readonly isReady?: (input: Input) => boolean;
  /** Shown above the fields, or the fields themselves. */
  readonly children?: ReactNode | ((form: InputProps<Input>) => ReactNode);
  /** Shown below the form, with the result once there is one; what was typed stays then. */
  readonly after?: (input: Input, result: Result | undefined) => ReactNode;
}

/** A form with fields of its own, and the button that sends them. What is typed is kept for the session, except secrets. */
export function Form<Input extends object, Result>(props: FormProps<Input, Result>) {
  const { initial, fields = {}, run, onDone, isReady, children, after, name, what, submitLabel, kind } = props;
  const { className = styles.page, label, beside } = props;
  const [openedMs] = useState(Date.now);
  const fieldsOfInput = (input: Input) => (typeof fields === "function" ? fields(input) : fields);
  const { withoutSecrets = (typed) => ({ ...typed, ...secretsOf(fieldsOfInput(typed), initial) }) } = props;
  const { draft, keep, settle, drop } = useDraft(name ?? `${submitLabel} ${what}`, withoutSecrets);
  const input = draft ?? initial;
  const change = useChange(
    async () => run(input, openedMs),
    (result) => {
      if (after) settle();
      else drop();
      onDone?.(result);
    },
  );
  const isPossible = isReady?.(input) ?? true;
  const set = (changed: Partial<Input>) => keep({ ...input, ...changed });
  return (
    <>
      <form
        className={className}
        onSubmit={submits(() => isPossible && change.mutate())}
        onReset={drop}
        aria-label={label}
      >
        {typeof children === "function" ? children({ input, set }) : children}
        <Fields input={input} set={set} fields={fieldsOfInput(input)} />
        {change.error && <Failure error={change.error} what={what} />}
        <div className={styles.row}>
          <button type="submit" className={kind} disabled={!isPossible || change.isPending}>
            {submitLabel}
          </button>
          {beside}
        </div>
      </form>
      {after?.(input, change.data)}
    </>
  );
}

/** The members of an input that are secrets, as they were before anybody typed. */
function secretsOf<Input extends object>(fields: FieldsData<Input>, initial: Input): Partial<Input> {
  const isSecret = ({ type, isSecret: isNamed }: FieldData) => isNamed || type === "password";
  const secrets = Object.entries(fields).filter(([, field]) => field && isSecret(field as FieldData));
  return Object.fromEntries(secrets.map(([name]) => [name, initial[name as keyof Input]])) as Partial<Input>;
}

/** Leaves a form and forgets what was typed; Escape keeps it. */
const Cancel = ({ onClick }: { readonly onClick: () => void }) => (
  <button type="reset" onClick={onClick}>
    Cancel
  </button>
);

/** The ways out of a form that makes something. */
export interface CreateProps<Made> {
  readonly onDone: (made: Made) => void;
  readonly onCancel: () => void;
}

type CreateFormProps<Input, Made> = CreateProps<Made> & { readonly title: string } & FormProps<Input, Made>;

/** The form that makes something: its fields, its refusal, and the way out. */
export const CreateForm = <Input extends object, Made>({ title, onCancel, ...form }: CreateFormProps<Input, Made>) => (
  <Form kind="main" className={styles.panel} label={title} beside={<Cancel onClick={onCancel} />} {...form}>
    <h2>{title}</h2>
  </Form>
);

interface FormActionProps<Input, Result> extends FormProps<Input, Result> {
  /** The words of the button that opens the dialog. */
  readonly label: string;
  readonly buttonLabel?: string;
  readonly isDisabled?: boolean;
  readonly title: string;
  /** Gives something up, so that the buttons and the dialog warn. */
  readonly isDanger?: boolean;
}

/** A button with the dialog of a form: its fields, the refusal, the button that does it, and one that leaves it. */
export function FormAction<Input extends object, Result>(props: FormActionProps<Input, Result>) {
  const { label, buttonLabel, isDisabled, title, isDanger = false, onDone, ...form } = props;
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button
        label={label}
        className={isDanger ? "danger" : undefined}
        disabled={isDisabled}
        aria-label={buttonLabel}
        onClick={() => setOpen(true)}
      />
      <Box title={title} role={isDanger ? "alertdialog" : "dialog"} isOpen={isOpen} onClose={close}>
        <Form
          {...form}
          kind={isDanger ? "danger" : "main"}
          beside={<Cancel onClick={close} />}
          name={`${title} ${buttonLabel ?? ""}`}
          onDone={(result) => {
            close();
            onDone?.(result);
          }}
        />
      </Box>
    </>
  );
}
