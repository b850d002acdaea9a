import { useState } from "react";
import { FormBox, useChange } from "./dialog.tsx";
import { Copy, Time } from "./inline.tsx";
import { Field } from "./lists.tsx";
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
export function ShownOnce({ title, text, secret, onClose }: OnceProps) {
  return (
    <Panel title={title}>
      <p>{text} It is shown this once.</p>
      <p role="status">
        <code>{secret}</code>
      </p>
      <div className={styles.row}>
        <Copy text={secret}>Copy it</Copy>
        <button type="button" onClick={onClose}>
          I have put it away
        </button>
      </div>
    </Panel>
  );
}

interface SecretFieldProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A field for a secret of another system, which no browser keeps. */
export function SecretField({ label, hint, value, onChange }: SecretFieldProps) {
  return (
    <Field label={label} {...(hint !== undefined && { hint })}>
      {(ids) => (
        <input
          {...ids}
          type="password"
          required
          autoComplete="off"
          spellCheck={false}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

interface LiveSecretsProps {
  readonly secrets: ReadonlyArray<{
    readonly id: string;
    readonly created_at: string;
    readonly ends_at: string | null;
  }>;
  /** The heading of the time from which each is valid. */
  readonly since: string;
}

/** The live secrets of an endpoint or a source with their ends. The secrets themselves are never shown. */
export const LiveSecrets = ({ secrets, since }: LiveSecretsProps) => (
  <Table
    label="Secrets"
    rows={secrets}
    keyOf={({ id }) => id}
    columns={[
      { name: "Secret", cell: ({ id }) => <code>{id}</code> },
      { name: since, cell: ({ created_at }) => <Time at={created_at} /> },
      { name: "Ends", cell: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : "in use, without an end") },
    ]}
  />
);

interface RenameProps {
  /** The thing that gets another name, such as "passkey". */
  readonly what: string;
  readonly name: string;
  readonly rename: (name: string) => Promise<unknown>;
}

/** A button with the dialog that gives something another name. */
export function Rename({ what, name, rename }: RenameProps) {
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState(name);
  const change = useChange(
    () => rename(typed.trim()),
    () => setOpen(false),
  );
  const open = () => {
    setTyped(name);
    change.reset();
    setOpen(true);
  };
  return (
    <>
      <button type="button" onClick={open} aria-label={`Rename ${name}`}>
        Rename
      </button>
      <FormBox
        title={`Rename the ${what}`}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        submitLabel="Rename"
        what={what}
        change={change}
      >
        <Field label="Name">
          {(ids) => (
            <input {...ids} required maxLength={100} value={typed} onChange={({ target }) => setTyped(target.value)} />
          )}
        </Field>
      </FormBox>
    </>
  );
}
