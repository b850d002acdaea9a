import { Button } from "./button.tsx";
import { Box } from "./dialog.tsx";
import type { Difference } from "./differences.ts";
import { Table } from "./page.tsx";
import styles from "./parts.module.css";

export interface ConflictProps {
  /** The thing that both saved, as in "this endpoint". */
  readonly what: string;
  readonly differences: readonly Difference[];
  readonly onMine: () => void;
  readonly onTheirs: () => void;
  /** Returns to the form with everything that was typed, as Escape does. */
  readonly onBack: () => void;
}

/** Shows two versions of one thing and has the person choose. */
export const Conflict = ({ what, differences, onMine, onTheirs, onBack }: ConflictProps) => (
  <Box title={`The ${what} has changed meanwhile`} role="alertdialog" isOpen onClose={onBack}>
    <p>Somebody saved this {what} after you had opened it. You both changed these fields:</p>
    <Table
      label="Both versions"
      rows={differences}
      keyOf={({ name }) => name}
      columns={{
        Field: ({ name }) => name,
        Yours: ({ mine }) => <code>{mine || "empty"}</code>,
        Saved: ({ theirs }) => <code>{theirs || "empty"}</code>,
      }}
    />
    <div className={styles.row}>
      <Button label="Save mine over it" className="main" onClick={onMine} />
      <Button label="Take the saved version" onClick={onTheirs} />
      <Button label="Back to the form" onClick={onBack} />
    </div>
  </Box>
);
