import { useNavigate } from "@tanstack/react-router";
import { useRef } from "react";
import { Button, Choice } from "../../parts/button.tsx";
import { differencesOf } from "../../parts/differences.ts";
import { reasonField } from "../../parts/fields.tsx";
import { Fields, Form } from "../../parts/form.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import { TrialEditForm } from "../../parts/trial-edit.tsx";
import { dropDraftsHere } from "../../session/drafts.ts";
import { archiveFlag, type FlagDefinition, membersOf } from "./flag.ts";
import { FlagFields } from "./flag-fields.tsx";
import { FlagHistory } from "./flag-history.tsx";
import { draftOf, type FlagForm, type SeenFlag, useFlagForm, views } from "./use-flag-form.ts";

interface ChangeFlagProps extends SeenFlag {
  /** Tells what is typed from what is typed over another version of the flag. */
  readonly name?: string;
  /** True for an example, which has no history. */
  readonly isExample?: boolean;
}

/** Sets a flag whole: typed as a form or as JSON, tried first, then made, then undone if it was wrong. With its history. */
export function ChangeFlag({ flag, revision, name = "flag", isExample = false }: ChangeFlagProps) {
  const now = { flag, revision };
  const form = useFlagForm(now, name);
  const { input, on, set, isNew, trial } = form;
  const heading = useRef<HTMLDivElement>(null);
  return (
    <>
      <div ref={heading} tabIndex={-1}>
        <Panel title={isNew ? "The flag" : "Change it"} actions={<Views form={form} />}>
          <TrialEditForm
            edit={form}
            now={now}
            what="flag"
            makeLabel={isNew ? "Add it" : "Set it"}
            differences={() => differencesOf(membersOf(form.wanted()), membersOf(flag))}
            theirs={() => draftOf(flag, input.view, input.reason)}
            preview={
              <>
                {trial.tried && <Preview before={on.flag} after={trial.tried} isNew={isNew} />}
                {trial.made && (
                  <p>
                    It is set: {trial.made.applied} of {trial.made.instances} instances evaluate with it.
                  </p>
                )}
              </>
            }
          >
            {input.view === "Form" && (
              <FlagFields
                input={input.form}
                set={(changed) => set({ form: { ...input.form, ...changed } })}
                isNew={isNew}
              />
            )}
            <Fields input={input} set={set} fields={{ text: input.view === "JSON" && definition, reason }} />
          </TrialEditForm>
          {!isNew && <ArchiveFlag seen={on} />}
        </Panel>
      </div>
      {!isExample && (
        <FlagHistory
          flagKey={on.flag.key}
          now={revision === "0" ? null : revision}
          onBack={({ flag: former, revision: of }) => {
            if (former === null) return;
            form.load(former, `Back to revision ${of}.`);
            heading.current?.focus();
          }}
        />
      )}
    </>
  );
}

const definition = {
  label: "Definition",
  hint: "The first rule whose conditions all match decides; percentage is of accounts.",
  rows: 18,
  required: true,
};

const reason = reasonField("Shown in the history and in the audit.", 1_000);

/** Buttons that show the flag as a form or as JSON, and those that write another state into it. */
function Views({ form: { input, set, show, isNew } }: { readonly form: FlagForm }) {
  const become = (state: FlagDefinition["state"]) => () =>
    input.view === "Form"
      ? set({ form: { ...input.form, state } })
      : set({ text: input.text.replace(/("state":\s*)"[a-z]*"/, `$1"${state}"`) });
  return (
    <>
      <Choice label="Show as" choices={views} chosen={input.view} choose={show} />
      {!isNew && (
        <>
          <Button label="Enable" onClick={become("enabled")} />
          <Button label="Disable" onClick={become("disabled")} />
        </>
      )}
    </>
  );
}

interface PreviewProps {
  readonly before: FlagDefinition;
  readonly after: FlagDefinition;
  readonly isNew: boolean;
}

/** Says that a change is allowed, and what would differ. */
function Preview({ before, after, isNew }: PreviewProps) {
  const differences = isNew ? [] : differencesOf(membersOf(after), membersOf(before));
  return (
    <>
      <p>Allowed. It would apply at once, in every service.</p>
      {!isNew && differences.length === 0 && <p>Nothing would change.</p>}
      {differences.length > 0 && (
        <Table
          label="Changes"
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

/** Archives a flag, once no code evaluates it. */
function ArchiveFlag({ seen: { flag, revision } }: { readonly seen: SeenFlag }) {
  const navigate = useNavigate();
  return (
    <details>
      <summary>Archive it</summary>
      <Form
        what="flag"
        submitLabel="Archive"
        kind="danger"
        initial={{ reason: "" }}
        fields={{ reason: { label: "Reason for archiving", required: true, isProse: true } }}
        run={({ reason }) => archiveFlag(flag.key, { expectedRevision: revision, reason })}
        onDone={() => {
          dropDraftsHere();
          void navigate({ to: "/flags" });
        }}
      >
        <p>Code that still evaluates it gets its own default from then on.</p>
      </Form>
    </details>
  );
}
