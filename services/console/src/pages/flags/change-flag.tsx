import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { Button } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Conflict } from "../../parts/conflict.tsx";
import { Undo } from "../../parts/dialog.tsx";
import { differencesOf } from "../../parts/differences.ts";
import { FieldOf } from "../../parts/fields.tsx";
import { Form as OneForm } from "../../parts/form.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import { TrialForm } from "../../parts/trial.tsx";
import { archiveFlag, type FlagChange, type FlagDefinition, membersOf, setFlag } from "./flag.ts";
import { FlagFields } from "./flag-fields.tsx";
import { FlagHistory } from "./flag-history.tsx";
import { type FlagForm, type SeenFlag, useFlagForm, type View, views } from "./use-flag-form.ts";

interface ChangeFlagProps extends SeenFlag {
  /** True for an example, which has no history. */
  readonly isExample?: boolean;
}

/** Sets a flag whole: typed as a form or as JSON, tried first, then made, then undone if it was wrong. With its history. */
export function ChangeFlag({ flag, revision, isExample = false }: ChangeFlagProps) {
  const form = useFlagForm({ flag, revision });
  const { load, setReason, isNew, seen } = form;
  const heading = useRef<HTMLDivElement>(null);
  const goBack = ({ flag: former, revision: of }: FlagChange) => {
    if (former === null) return;
    load(former);
    setReason(`Back to revision ${of}.`);
    heading.current?.focus();
  };
  return (
    <>
      <div ref={heading} tabIndex={-1}>
        <Panel title={isNew ? "The flag" : "Change it"} actions={<Views form={form} />}>
          <Form form={form} />
          <Afterwards form={form} />
          {form.trial.hasChanged && (
            <Conflict
              what="flag"
              differences={differencesOf(membersOf(form.wanted()), membersOf(flag))}
              onMine={() => form.trial.make({ flag, revision })}
              onBack={form.trial.reset}
              onTheirs={() => {
                form.lookAgain();
                load(flag);
              }}
            />
          )}
        </Panel>
      </div>
      {!isExample && <FlagHistory flagKey={seen.flag.key} now={isNew ? null : seen.revision} onBack={goBack} />}
    </>
  );
}

/** Buttons that show the flag as a form or as JSON, and those that write another state into it. */
function Views({ form }: { readonly form: FlagForm }) {
  const { draft, show, edit, editText, isNew } = form;
  const become = (state: FlagDefinition["state"]) => () =>
    draft.view === "Form" ? edit({ state }) : editText(draft.text.replace(/("state":\s*)"[a-z]*"/, `$1"${state}"`));
  return (
    <>
      <Choice label="Show as" choices={views} chosen={draft.view} choose={(view) => show(view as View)} />
      {!isNew && (
        <>
          <Button label="Enable" onClick={become("enabled")} />
          <Button label="Disable" onClick={become("disabled")} />
        </>
      )}
    </>
  );
}

function Form({ form }: { readonly form: FlagForm }) {
  const { draft, edit, reason, setReason, seen, isNew, trial } = form;
  const { tried, made } = trial;
  return (
    <TrialForm
      trial={trial}
      what="flag"
      makeLabel={isNew ? "Add it" : "Set it"}
      onMake={() => trial.make(seen)}
      preview={
        <>
          {tried && <Preview before={seen.flag} after={tried} isNew={isNew} />}
          {made && (
            <p>
              It is set: {made.applied} of {made.instances} instances evaluate with it.
            </p>
          )}
        </>
      }
    >
      {draft.view === "Form" ? (
        <FlagFields input={draft.input} set={edit} isNew={isNew} />
      ) : (
        <FieldOf
          label="Definition"
          hint="The first rule whose conditions all match decides; percentage is of accounts."
          rows={18}
          required
          value={draft.text}
          set={form.editText}
        />
      )}
      <FieldOf
        label="Reason"
        hint="It stands in the history and in the audit."
        required
        maxLength={1_000}
        isProse
        value={reason}
        set={setReason}
      />
    </TrialForm>
  );
}

interface PreviewProps {
  readonly before: FlagDefinition;
  readonly after: FlagDefinition;
  readonly isNew: boolean;
}

/** Says that a change is allowed, and what would differ. */
function Preview({ before, after, isNew }: PreviewProps) {
  const differences = differencesOf(membersOf(after), membersOf(before));
  return (
    <>
      <p>It is allowed. It would hold at once, in every service.</p>
      {!isNew && differences.length === 0 && <p>Nothing differs from what holds now.</p>}
      {!isNew && differences.length > 0 && (
        <Table
          label="What would change"
          rows={differences}
          keyOf={({ name }) => name}
          columns={{
            Field: ({ name }) => name,
            Now: ({ theirs }) => <code>{theirs}</code>,
            Then: ({ mine }) => <code>{mine}</code>,
          }}
        />
      )}
    </>
  );
}

/** The buttons below the form of a flag that is there: take the last change back, and archive it. */
const Afterwards = ({ form: { past, setPast, seen, setSeen, isNew, load } }: { readonly form: FlagForm }) => (
  <>
    {past && (
      <Undo
        what="flag"
        run={() => setFlag(past.definition, { expectedRevision: seen.revision, reason: `Undone: ${past.reason}` })}
        onDone={({ flag }) => {
          if (flag) setSeen({ flag, revision: flag.revision });
          setPast(null);
          load(past.definition);
        }}
      />
    )}
    {!isNew && <ArchiveFlag seen={seen} />}
  </>
);

/** Archives a flag, once no code evaluates it. */
function ArchiveFlag({ seen: { flag, revision } }: { readonly seen: SeenFlag }) {
  const navigate = useNavigate();
  return (
    <details>
      <summary>Archive it</summary>
      <OneForm
        what="flag"
        submitLabel="Archive"
        kind="danger"
        initial={{ reason: "" }}
        fields={{ reason: { label: "Reason to archive it", required: true, isProse: true } }}
        run={({ reason }) => archiveFlag(flag.key, { expectedRevision: revision, reason })}
        onDone={() => void navigate({ to: "/flags" })}
      >
        <p>Code that still evaluates it gets its own default from then on.</p>
      </OneForm>
    </details>
  );
}
