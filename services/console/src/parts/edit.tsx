import { type QueryKey, type UseMutationResult, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, type SubmitEvent, useRef, useState } from "react";
import type { Versioned } from "../session/api.ts";
import { useDraft } from "../session/drafts.ts";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import { Box } from "./dialog.tsx";
import { type Difference, differencesOf } from "./differences.ts";
import type { InputProps } from "./fields.tsx";
import { Fields, type FieldsData, submits } from "./form.tsx";
import { Table } from "./page.tsx";
import styles from "./parts.module.css";
import { type Draft, type Merge, type Saving, saveVersion } from "./save-version.ts";
import { useChange } from "./use-change.ts";

interface EditOptions<Data, Input> extends Saving<Data, Input> {
  readonly current: Versioned<Data>;
  /** The query that has the current version. */
  readonly queryKey: QueryKey;
  /** Input with which the form begins instead of what is saved, such as the next state of something. */
  readonly initial?: Partial<Input>;
  readonly onDone?: () => void;
  /** Leaves typed secrets out of an input, which is kept for the session, or shown beside another. Default: nothing. */
  readonly withoutSecrets?: (input: Input) => Input;
}

/** A form over something that others may change too. */
export interface Edit<Input> extends InputProps<Input> {
  readonly isChanged: boolean;
  /** Forgets what was typed. */
  readonly drop: () => void;
  readonly submit: (event: SubmitEvent) => void;
  readonly saving: Pick<UseMutationResult, "error" | "isPending" | "isSuccess">;
  readonly conflict: Omit<ConflictProps, "what"> | null;
}

interface Contest<Data, Input> extends Merge<Input> {
  readonly theirs: Versioned<Data>;
}

/**
 * Edits something. Until a person types, the form shows what is saved; from then on it keeps what was typed, together with
 * the version that it is based on.
 */
export function useEdit<Data, Input extends object>(options: EditOptions<Data, Input>): Edit<Input> {
  const { current, queryKey, inputOf, initial, read, save, onDone, withoutSecrets = (input) => input } = options;
  const queries = useQueryClient();
  const [begun] = useState({ input: { ...inputOf(current.data), ...initial }, on: current });
  const kept = useDraft<Draft<Data, Input>>(`edit ${queryKey.join(" ")}`, ({ input, on }) => ({
    input: withoutSecrets(input),
    on,
  }));
  const draft = kept.draft ?? (initial ? begun : null);
  const { input, on } = draft ?? { input: inputOf(current.data), on: current };
  const typed = useRef(input);
  typed.current = input;
  const [contest, setContest] = useState<Contest<Data, Input> | null>(null);
  /** Keeps what differs from what is saved: a form with nothing to save may be left. */
  const keep = (next: Draft<Data, Input>) =>
    differencesOf(next.input, inputOf(next.on.data)).length > 0 || initial ? kept.keep(next) : kept.drop();
  const become = (next: Draft<Data, Input> | null) => {
    if (next) keep(next);
    else kept.drop();
    setContest(null);
    saving.reset();
  };
  const saving = useChange(
    async (sent: Draft<Data, Input>) => ({
      input: sent.input,
      saved: await saveVersion({ read, save, inputOf }, sent, (theirs, merge) => setContest({ theirs, ...merge })),
    }),
    ({ input: sent, saved }) => {
      queries.setQueryData(queryKey, saved);
      // What was typed while the answer was on its way is kept.
      if (typed.current === sent) kept.drop();
      else kept.keep({ input: typed.current, on: saved });
      setContest(null);
      onDone?.();
    },
  );
  return {
    input,
    set: (changed) => keep({ input: { ...input, ...changed }, on }),
    isChanged: draft !== null && differencesOf(input, inputOf(on.data)).length > 0,
    drop: () => become(null),
    submit: submits(() => saving.mutate({ input, on })),
    saving,
    conflict: contest && {
      differences: differencesOf(
        partOf(withoutSecrets(input), contest.contested),
        withoutSecrets(inputOf(contest.theirs.data)),
      ),
      onMine() {
        const mine = { input: contest.merged, on: contest.theirs };
        become(mine);
        saving.mutate(mine);
      },
      onTheirs() {
        const { theirs, merged, contested } = contest;
        become({ input: { ...merged, ...partOf(inputOf(theirs.data), contested) }, on: theirs });
      },
      onBack: () => setContest(null),
    },
  };
}

const partOf = <Input extends object>(input: Input, names: readonly (keyof Input & string)[]): Partial<Input> =>
  Object.fromEntries(names.map((name) => [name, input[name]])) as Partial<Input>;

interface EditFormProps<Input> {
  readonly edit: Edit<Input>;
  readonly label: string;
  /** The thing that is edited, for a refusal. */
  readonly what: string;
  readonly onCancel?: () => void;
  readonly fields?: FieldsData<Input>;
  /** Shown above the fields, such as a heading. */
  readonly children?: ReactNode;
}

/** The form of an edit: its fields, its refusal, and both versions when somebody else saved meanwhile. */
export function EditForm<Input extends object>(props: EditFormProps<Input>) {
  const { edit, label, what, onCancel, fields = {}, children } = props;
  const { saving, conflict, isChanged } = edit;
  const cancel = () => {
    edit.drop();
    onCancel?.();
  };
  return (
    <form className={styles.panel} onSubmit={edit.submit} aria-label={label}>
      {children}
      <Fields input={edit.input} set={edit.set} fields={fields} />
      {saving.error && !conflict && <Failure error={saving.error} what={what} />}
      <div className={styles.row}>
        <button type="submit" className="main" disabled={saving.isPending}>
          Save
        </button>
        {onCancel && <Button label="Cancel" onClick={cancel} />}
        {!onCancel && isChanged && <Button label="Discard changes" onClick={edit.drop} />}
        <span role="status">{isChanged ? "Unsaved changes." : saving.isSuccess && "Saved."}</span>
      </div>
      {conflict && <Conflict what={what} {...conflict} />}
    </form>
  );
}

interface ConflictProps {
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
  <Box title={`The ${what} has changed in the meantime`} role="alertdialog" isOpen onClose={onBack}>
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
      <Button label="Overwrite with mine" className="main" onClick={onMine} />
      <Button label="Use the saved version" onClick={onTheirs} />
      <Button label="Back to the form" onClick={onBack} />
    </div>
  </Box>
);
