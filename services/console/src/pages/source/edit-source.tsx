import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api, type Versioned, versioned } from "../../session/api.ts";
import { readSource, type Source, sourceTones } from "../sources.ts";
import { inputOf, patchOf, type SourceInput } from "./source-input.ts";

interface EditProps {
  readonly current: Versioned<Source>;
  readonly onDone: () => void;
}

/** Edits a source. When somebody else changed it meanwhile, both versions are shown and the person decides. */
export function EditSource({ current, onDone }: EditProps) {
  const { id } = current.data;
  const edit = useEdit({ current, queryKey: ["source", id], inputOf, read: () => readSource(id), save: send, onDone });
  return (
    <EditForm edit={edit} label="Edit the source" what="source" onCancel={onDone}>
      <SourceFields input={edit.input} change={edit.set} />
    </EditForm>
  );
}

async function send(input: SourceInput, before: Source, etag: string | null) {
  const header = etag === null ? {} : { "If-Match": etag };
  const params = { path: { id: before.id }, header };
  return versioned(api.PATCH("/api/v1/webhooks/sources/{id}", { params, body: patchOf(input, before) as object }));
}

interface FieldsProps {
  readonly input: SourceInput;
  readonly change: (input: SourceInput) => void;
}

function SourceFields({ input, change }: FieldsProps) {
  const set = (changed: Partial<SourceInput>) => change({ ...input, ...changed });
  return (
    <>
      <Field label="Name">
        {(ids) => <input {...ids} required value={input.name} onChange={({ target }) => set({ name: target.value })} />}
      </Field>
      <Field
        label="Status"
        hint="paused answers 503, so that the sender tries again; stopped answers 202 and keeps nothing."
      >
        {(ids) => (
          <select
            {...ids}
            value={input.status}
            onChange={({ target }) => set({ status: target.value as Source["status"] })}
          >
            {Object.keys(sourceTones).map((status) => (
              <option key={status}>{status}</option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Types" hint="One on each line; order.* is every type that begins with order. — Empty: every type.">
        {(ids) => (
          <textarea
            {...ids}
            rows={3}
            spellCheck={false}
            value={input.eventTypes}
            onChange={({ target }) => set({ eventTypes: target.value })}
          />
        )}
      </Field>
      <label className={parts.check}>
        <input type="checkbox" checked={input.forward} onChange={({ target }) => set({ forward: target.checked })} />
        Forward accepted webhooks to your endpoints
      </label>
      <label className={parts.check}>
        <input
          type="checkbox"
          checked={input.keepRejected}
          onChange={({ target }) => set({ keepRejected: target.checked })}
        />
        Keep rejected webhooks, so that they can be tried again once the cause is mended
      </label>
      <Field
        label="Other settings"
        hint="A JSON object. Those that are not in it have their defaults, which are listed below."
      >
        {(ids) => (
          <textarea
            {...ids}
            rows={8}
            spellCheck={false}
            value={input.settings}
            onChange={({ target }) => set({ settings: target.value })}
          />
        )}
      </Field>
    </>
  );
}
