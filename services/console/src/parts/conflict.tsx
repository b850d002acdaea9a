import { ApiError } from "@signalbox/client";
import { useState } from "react";
import type { Versioned } from "../session/api.ts";
import { Box, useChange } from "./dialog.tsx";
import type { Difference } from "./differences.ts";
import { Table } from "./page.tsx";
import styles from "./parts.module.css";

interface Saving<Data, Input, Saved> {
  readonly read: () => Promise<Versioned<Data>>;
  /** Sends the input; the version makes sure that nobody's change is overwritten unseen. */
  readonly save: (input: Input, before: Data, etag: string | null) => Promise<Saved>;
}

interface SaveRules<Data, Input> extends Saving<Data, Input, unknown> {
  readonly onDone: () => void;
}

/** Saves an input over the version that it is based on; one that somebody else saved meanwhile is handed over first. */
export async function saveVersion<Data, Input, Saved>(
  { read, save }: Saving<Data, Input, Saved>,
  { input, on }: { readonly input: Input; readonly on: Versioned<Data> },
  onTheirs: (theirs: Versioned<Data>) => void,
): Promise<Saved> {
  try {
    return await save(input, on.data, on.etag);
  } catch (error) {
    if (error instanceof ApiError && [409, 412].includes(error.status)) {
      const saved = await read();
      // A conflict of another kind, such as a limit, left the version as it was.
      if (saved.etag !== on.etag) onTheirs(saved);
    }
    throw error;
  }
}

/** A save that keeps both versions when somebody else saved meanwhile, so that the person decides. */
export function useVersionedSave<Data, Input>(current: Versioned<Data>, rules: SaveRules<Data, Input>) {
  const [base, setBase] = useState(current);
  const [theirs, setTheirs] = useState<Versioned<Data> | null>(null);
  const change = useChange(
    (sent: { readonly input: Input; readonly on: Versioned<Data> }) => saveVersion(rules, sent, setTheirs),
    rules.onDone,
  );
  const settleOn = (version: Versioned<Data>) => {
    setBase(version);
    setTheirs(null);
    change.reset();
  };
  return {
    theirs: theirs?.data ?? null,
    error: theirs ? null : change.error,
    isPending: change.isPending,
    save: (input: Input) => change.mutate({ input, on: base }),
    saveOver(input: Input) {
      if (!theirs) return;
      settleOn(theirs);
      change.mutate({ input, on: theirs });
    },
    takeTheirs() {
      if (theirs) settleOn(theirs);
    },
  };
}

interface ConflictProps {
  /** The thing that both saved, as in "this endpoint". */
  readonly what: string;
  readonly differences: readonly Difference[];
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

/** Shows two versions of one thing and has the person choose. */
export function Conflict({ what, differences, onMine, onTheirs }: ConflictProps) {
  return (
    <Box title="It has changed meanwhile" role="alertdialog" isOpen onClose={onTheirs}>
      <p>Somebody saved this {what} after you had opened it. These fields differ:</p>
      <Table
        label="Both versions"
        rows={differences}
        keyOf={({ name }) => name}
        columns={[
          { name: "Field", cell: ({ name }) => name },
          { name: "Yours", cell: ({ mine }) => <code>{mine || "empty"}</code> },
          { name: "Saved", cell: ({ theirs }) => <code>{theirs || "empty"}</code> },
        ]}
      />
      <div className={styles.row}>
        <button type="button" className="main" onClick={onMine}>
          Save mine over it
        </button>
        <button type="button" onClick={onTheirs}>
          Take the saved version
        </button>
      </div>
    </Box>
  );
}
