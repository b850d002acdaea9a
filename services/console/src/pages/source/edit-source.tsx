import { EditForm, useEdit } from "../../parts/edit.tsx";
import type { FieldsData } from "../../parts/form.tsx";
import { api, ifMatch, type Versioned, versioned } from "../../session/api.ts";
import { readSource, type Source, sourceTones } from "../sources.ts";
import { inputOf, patchOf, type SourceInput } from "./source-input.ts";

/** Edits a source. When somebody else changed it meanwhile, both versions are shown and the person decides. */
export function EditSource({ current, onDone }: { readonly current: Versioned<Source>; readonly onDone: () => void }) {
  const { id } = current.data;
  const edit = useEdit({ current, queryKey: ["source", id], inputOf, read: () => readSource(id), save: send, onDone });
  return <EditForm edit={edit} label="Edit the source" what="source" onCancel={onDone} fields={fields} />;
}

const fields: FieldsData<SourceInput> = {
  name: { label: "Name", required: true },
  status: {
    label: "Status",
    hint: "paused answers 503, so that the sender tries again; stopped answers 202 and keeps nothing.",
    choices: Object.keys(sourceTones),
  },
  eventTypes: {
    label: "Types",
    hint: "One on each line; order.* is every type that begins with order. — Empty: every type.",
    rows: 3,
  },
  forward: { label: "Forward accepted webhooks to your endpoints" },
  keepRejected: { label: "Keep rejected webhooks, so that they can be tried again once the cause is mended" },
  settings: {
    label: "Other settings",
    hint: "A JSON object. Those that are not in it have their defaults, which are listed below.",
    rows: 8,
  },
};

async function send(input: SourceInput, before: Source, etag: string | null) {
  const params = { path: { id: before.id }, header: ifMatch(etag) };
  return versioned(api.PATCH("/api/v1/webhooks/sources/{id}", { params, body: patchOf(input, before) as object }));
}
