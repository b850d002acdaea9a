import { EditForm, useEdit } from "../../parts/edit.tsx";
import { api, type Versioned, versioned } from "../../session/api.ts";
import { type Endpoint, readEndpoint } from "../webhooks.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { bodyOf, type EndpointInput, inputOf, shownInput } from "./endpoint-input.ts";

interface EditProps {
  readonly current: Versioned<Endpoint>;
  readonly onDone: () => void;
}

/** Edits an endpoint. When somebody else changed it meanwhile, both versions are shown and the person decides. */
export function EditEndpoint({ current, onDone }: EditProps) {
  const { id } = current.data;
  const edit = useEdit({
    current,
    queryKey: ["endpoint", id],
    inputOf,
    read: () => readEndpoint(id),
    save: send,
    onDone,
    shown: shownInput,
  });
  return (
    <EditForm edit={edit} label="Edit the endpoint" what="endpoint" onCancel={onDone}>
      <EndpointFields input={edit.input} change={edit.set} present={current.data} />
    </EditForm>
  );
}

async function send(input: EndpointInput, before: Endpoint, etag: string | null) {
  const { id, type } = before;
  const body = { ...bodyOf(input, before), ...(type !== "pull" && { url: input.url.trim() }) };
  const header = etag === null ? {} : { "If-Match": etag };
  return versioned(api.PATCH("/api/v1/webhooks/endpoints/{id}", { params: { path: { id }, header }, body }));
}
