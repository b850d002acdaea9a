import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { type CreateProps, FormAction } from "./form.tsx";
import { Copy, Time } from "./inline.tsx";
import { useFilters } from "./lists.tsx";
import { Panel, Table } from "./page.tsx";
import styles from "./parts.module.css";

interface OnceProps {
  readonly title: string;
  /** Says what it is for and where it belongs. */
  readonly text: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** A secret that is shown once: here, until the person has put it away. */
export const ShownOnce = ({ title, text, secret, onClose }: OnceProps) => (
  <Panel title={title}>
    <p>{text} It is shown only once.</p>
    <p role="status">
      <code>{secret}</code>
    </p>
    <div className={styles.row}>
      <Copy text={secret}>Copy it</Copy>
      <Button label="Done" onClick={onClose} />
    </div>
  </Panel>
);

interface LiveSecretsProps {
  readonly secrets: ReadonlyArray<{
    readonly id: string;
    readonly created_at: string;
    readonly ends_at: string | null;
  }>;
  readonly label?: string;
  /** The heading of their ids. */
  readonly name?: string;
  /** The heading of the time from which each is valid. */
  readonly since: string;
}

/** Live secrets with their ends. The secrets themselves are never shown. */
export const LiveSecrets = ({ secrets, label = "Secrets", name = "Secret", since }: LiveSecretsProps) => (
  <Table
    label={label}
    rows={secrets}
    keyOf={({ id }) => id}
    columns={{
      [name]: ({ id }) => <code>{id}</code>,
      [since]: ({ created_at }) => <Time at={created_at} />,
      Expires: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : "never"),
    }}
  />
);

interface RenameProps {
  /** The thing that gets another name, such as "passkey". */
  readonly what: string;
  readonly name: string;
  readonly rename: (name: string) => Promise<unknown>;
}

/** A button with the dialog that gives something another name. */
export const Rename = ({ what, name, rename }: RenameProps) => (
  <FormAction
    label="Rename"
    buttonLabel={`Rename ${name}`}
    title={`Rename the ${what}`}
    submitLabel="Rename"
    what={what}
    initial={{ name }}
    fields={{ name: { label: "Name", required: true, maxLength: 100 } }}
    run={(typed) => rename(typed.name.trim())}
  />
);

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

interface CreationOptions<Made> {
  /** The words of the button that opens the form. */
  readonly label: string;
  readonly isAllowed?: boolean;
  readonly form: (ways: CreateProps<Made>) => ReactNode;
  /** The secret of what was made, which is shown once; null where it has none. */
  readonly onceOf: (made: Made) => Omit<OnceProps, "onClose"> | null;
}

/** The way to make one of what a page lists: the button, the form that it opens, and the secret that is shown once. */
export function useCreation<Made>({ label, isAllowed = true, form, onceOf }: CreationOptions<Made>) {
  const [{ new: isNew }, change] = useFilters();
  const [once, setOnce] = useState<ReturnType<typeof onceOf>>(null);
  const close = () => change({ new: undefined });
  const show = (made: Made) => setOnce(onceOf(made));
  const onDone = (made: Made) => {
    show(made);
    close();
  };
  return {
    /** Shows the secret of another one, such as one that was rotated. */
    show,
    action: isAllowed && !isNew && <Button label={label} className="main" onClick={() => change({ new: "yes" })} />,
    panels: (
      <>
        {once && <ShownOnce {...once} onClose={() => setOnce(null)} />}
        {isAllowed && isNew && form({ onDone, onCancel: close })}
      </>
    ),
  };
}
