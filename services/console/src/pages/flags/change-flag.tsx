import { ApiError } from "@signalbox/client";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Conflict } from "../../parts/conflict.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { differencesOf } from "../../parts/differences.ts";
import { Field } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ArchiveFlag } from "./archive-flag.tsx";
import { definitionOf, type FlagDefinition, setFlag } from "./flag.ts";

interface ChangeFlagProps {
  /** The flag as it is now; an example for a new one. */
  readonly flag: FlagDefinition;
  readonly revision: string;
}

/** The definition before a change, so that it can be taken back. */
interface Past {
  readonly definition: FlagDefinition;
  readonly reason: string;
}

/** The form of a flag: what is typed, the flag as it was seen, and the requests about it. */
function useFlagForm({ flag, revision }: ChangeFlagProps) {
  const navigate = useNavigate();
  const [text, setText] = useState(() => textOf(flag));
  const [reason, setReason] = useState("");
  const [seen, setSeen] = useState({ flag, revision });
  const [past, setPast] = useState<Past | null>(null);
  const isNew = seen.revision === "0";
  const send = ({ revision: expectedRevision }: ChangeFlagProps, isDryRun: boolean) =>
    setFlag(parsed(text), { expectedRevision, reason, isDryRun });
  const dryRun = useChange(() => send(seen, true));
  const change = useChange(
    async (on: ChangeFlagProps) => ({ ...(await send(on, false)), before: on.flag }),
    ({ flag: saved, before }) => {
      if (!saved) return;
      if (!isNew) setPast({ definition: definitionOf(before), reason });
      setSeen({ flag: saved, revision: saved.revision });
      setReason("");
      dryRun.reset();
      if (isNew) void navigate({ to: "/flags/$key", params: { key: saved.key }, replace: true });
    },
  );
  const edit = (next: string) => {
    setText(next);
    dryRun.reset();
  };
  const lookAgain = () => {
    setSeen({ flag, revision });
    dryRun.reset();
    change.reset();
  };
  const error = change.error ?? dryRun.error;
  const hasChanged = error instanceof ApiError && error.status === 409;
  return {
    text,
    edit,
    reason,
    setReason,
    seen,
    setSeen,
    past,
    setPast,
    isNew,
    dryRun,
    change,
    lookAgain,
    error,
    hasChanged,
  };
}

type FlagForm = ReturnType<typeof useFlagForm>;

/** Sets a flag whole: tried first, then made, then undone if it was wrong. */
export function ChangeFlag({ flag, revision }: ChangeFlagProps) {
  const navigate = useNavigate();
  const form = useFlagForm({ flag, revision });
  const { text, edit, seen, setSeen, past, setPast, isNew, change, lookAgain, hasChanged } = form;
  return (
    <Panel title={isNew ? "The flag" : "Change it"} actions={!isNew && <States text={text} edit={edit} />}>
      <Form form={form} />
      {past && (
        <Undo
          past={past}
          revision={seen.revision}
          onDone={() => {
            setPast(null);
            edit(textOf(past.definition));
          }}
          onSaved={(saved) => setSeen({ flag: saved, revision: saved.revision })}
        />
      )}
      {!isNew && (
        <ArchiveFlag flagKey={seen.flag.key} revision={seen.revision} onDone={() => void navigate({ to: "/flags" })} />
      )}
      {hasChanged && (
        <Conflict
          what="flag"
          differences={differencesOf(membersOf(text), membersOf(textOf(flag)))}
          onMine={() => change.mutate({ flag, revision })}
          onTheirs={() => {
            lookAgain();
            edit(textOf(flag));
          }}
        />
      )}
    </Panel>
  );
}

function Form({ form }: { readonly form: FlagForm }) {
  const { text, edit, reason, setReason, seen, isNew, dryRun, change, error, hasChanged } = form;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.reset();
    dryRun.mutate();
  };
  return (
    <form className={parts.page} onSubmit={submit}>
      <Field
        label="Definition"
        hint="JSON. The first rule whose conditions all match decides; percentage is of accounts."
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={18}
            required
            spellCheck={false}
            value={text}
            onChange={({ target }) => edit(target.value)}
          />
        )}
      </Field>
      <Field label="Reason" hint="It stands in the audit.">
        {(ids) => (
          <input
            {...ids}
            required
            maxLength={1_000}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
        )}
      </Field>
      {error && !hasChanged && <Failure error={error} what="flag" />}
      <div role="status">
        {dryRun.data && <p>It is allowed. It would hold at once, in every service.</p>}
        {change.data && (
          <p>
            It is set: {change.data.applied} of {change.data.instances} instances evaluate with it.
          </p>
        )}
      </div>
      <div className={parts.row}>
        <button type="submit" disabled={dryRun.isPending}>
          Try it first
        </button>
        {dryRun.data && !hasChanged && (
          <button type="button" className="main" disabled={change.isPending} onClick={() => change.mutate(seen)}>
            {isNew ? "Add it" : "Set it"}
          </button>
        )}
      </div>
    </form>
  );
}

const textOf = (flag: FlagDefinition): string => {
  const { salt, ...definition } = definitionOf(flag);
  return JSON.stringify(salt === "" ? definition : { ...definition, salt }, null, 2);
};

/** @throws Error for what is no JSON */
function parsed(text: string): FlagDefinition {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`Definition: this is not JSON. ${(error as Error).message}`);
  }
}

const membersOf = (text: string): Record<string, string> =>
  Object.fromEntries(Object.entries(parsed(text)).map(([name, value]) => [name, JSON.stringify(value)]));

/** Buttons that write another state into the definition. */
function States({ text, edit }: { readonly text: string; readonly edit: (text: string) => void }) {
  const become = (state: FlagDefinition["state"]) => () => edit(text.replace(/("state":\s*)"[a-z]*"/, `$1"${state}"`));
  return (
    <>
      <button type="button" onClick={become("enabled")}>
        Enable
      </button>
      <button type="button" onClick={become("disabled")}>
        Disable
      </button>
    </>
  );
}

interface UndoProps {
  readonly past: Past;
  readonly revision: string;
  readonly onDone: () => void;
  readonly onSaved: (flag: FlagDefinition & { readonly revision: string }) => void;
}

function Undo({ past, revision, onDone, onSaved }: UndoProps) {
  const undo = useChange(
    () => setFlag(past.definition, { expectedRevision: revision, reason: `Undone: ${past.reason}` }),
    ({ flag }) => {
      if (flag) onSaved(flag);
      onDone();
    },
  );
  return (
    <div className={parts.row}>
      {undo.error && <Failure error={undo.error} what="flag" />}
      <button type="button" disabled={undo.isPending} onClick={() => undo.mutate()}>
        Undo
      </button>
    </div>
  );
}
