import { type QueryKey, type UseMutationResult, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Versioned } from "../session/api.ts";
import { Failure } from "./answer.tsx";
import { Button } from "./button.tsx";
import { Conflict, type ConflictProps } from "./conflict.tsx";
import { useChange } from "./dialog.tsx";
import { differencesOf } from "./differences.ts";
import type { InputProps } from "./fields.tsx";
import parts from "./parts.module.css";
import { type Draft, type Saving, saveVersion } from "./save-version.ts";

interface EditOptions<Data, Input> extends Saving<Data, Input> {
  readonly current: Versioned<Data>;
  /** The query that has the current version. */
  readonly queryKey: QueryKey;
  /** Input with which the form begins instead of what is saved, such as the next state of something. */
  readonly initial?: Partial<Input>;
  readonly onDone?: () => void;
  /** Leaves out of an input what both versions must not show, such as a typed secret. Default: nothing. */
  readonly shown?: (input: Input) => object;
}

/** A form over something that others may change too. */
export interface Edit<Input> extends InputProps<Input> {
  readonly isChanged: boolean;
  /** Forgets what was typed. */
  readonly drop: () => void;
  readonly submit: (event: FormEvent) => void;
  readonly saving: Pick<UseMutationResult, "error" | "isPending" | "isSuccess">;
  readonly conflict: Omit<ConflictProps, "what"> | null;
}

/**
 * Edits something. Until a person types, the form shows what is saved; from then on it keeps what was typed, together with
 * the version that it is based on.
 */
export function useEdit<Data, Input extends object>(options: EditOptions<Data, Input>): Edit<Input> {
  const { current, queryKey, inputOf, initial, read, save, onDone, shown = (input) => input } = options;
  const queries = useQueryClient();
  const [draft, setDraft] = useState<Draft<Data, Input> | null>(
    initial ? { input: { ...inputOf(current.data), ...initial }, on: current } : null,
  );
  const [theirs, setTheirs] = useState<Versioned<Data> | null>(null);
  const { input, on } = draft ?? { input: inputOf(current.data), on: current };
  const drop = () => {
    setDraft(null);
    setTheirs(null);
    saving.reset();
  };
  const saving = useChange(
    async (sent: Draft<Data, Input>) => ({
      input: sent.input,
      saved: await saveVersion({ read, save, inputOf }, sent, setTheirs),
    }),
    ({ input: sent, saved }) => {
      queries.setQueryData(queryKey, saved);
      // What was typed while the answer was on its way is kept.
      setDraft((typed) => (typed === null || typed.input === sent ? null : { input: typed.input, on: saved }));
      setTheirs(null);
      onDone?.();
    },
  );
  return {
    input,
    set: (changed) => setDraft({ input: { ...input, ...changed }, on }),
    isChanged: draft !== null && differencesOf(input, inputOf(on.data)).length > 0,
    drop,
    submit: (event) => {
      event.preventDefault();
      saving.mutate({ input, on });
    },
    saving,
    conflict: theirs && {
      differences: differencesOf(shown(input), shown(inputOf(theirs.data))),
      onMine: () => {
        setDraft({ input, on: theirs });
        setTheirs(null);
        saving.mutate({ input, on: theirs });
      },
      onTheirs: () => {
        setDraft({ input: inputOf(theirs.data), on: theirs });
        setTheirs(null);
        saving.reset();
      },
    },
  };
}

interface EditFormProps<Input> {
  readonly edit: Edit<Input>;
  readonly label: string;
  /** The thing that is edited, for a refusal. */
  readonly what: string;
  readonly onCancel?: () => void;
  readonly children: ReactNode;
}

/** The form of an edit: its fields, its refusal, and both versions when somebody else saved meanwhile. */
export function EditForm<Input extends object>({ edit, label, what, onCancel, children }: EditFormProps<Input>) {
  const { saving, conflict, isChanged } = edit;
  return (
    <form className={parts.panel} onSubmit={edit.submit} aria-label={label}>
      {children}
      {saving.error && !conflict && <Failure error={saving.error} what={what} />}
      <div className={parts.row}>
        <button type="submit" className="main" disabled={saving.isPending}>
          Save
        </button>
        {onCancel && <Button label="Cancel" onClick={onCancel} />}
        {!onCancel && isChanged && <Button label="Undo changes" onClick={edit.drop} />}
        <span role="status">{!onCancel && (isChanged ? "Not saved yet." : saving.isSuccess && "Saved.")}</span>
      </div>
      {conflict && <Conflict what={what} {...conflict} />}
    </form>
  );
}
