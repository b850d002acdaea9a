import { Button } from "./button.tsx";
import { FormAction } from "./form.tsx";
import { Copy, Time } from "./inline.tsx";
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
    <p>{text} It is shown this once.</p>
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
      Ends: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : "in use, without an end"),
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
