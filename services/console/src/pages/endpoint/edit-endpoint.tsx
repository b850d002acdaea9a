import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Conflict, useVersionedSave } from "../../parts/conflict.tsx";
import { differencesOf } from "../../parts/differences.ts";
import parts from "../../parts/parts.module.css";
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
  const [input, setInput] = useState(() => inputOf(current.data));
  const { id } = current.data;
  const { theirs, error, isPending, save, saveOver, takeTheirs } = useVersionedSave(current, {
    read: () => readEndpoint(id),
    save: send,
    onDone,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save(input);
  };
  return (
    <form className={parts.panel} onSubmit={submit} aria-label="Edit the endpoint">
      <EndpointFields input={input} change={setInput} present={current.data} />
      {error && <Failure error={error} what="endpoint" />}
      <div className={parts.row}>
        <button type="submit" className="main" disabled={isPending}>
          Save
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {theirs && (
        <Conflict
          what="endpoint"
          differences={differencesOf(shownInput(input), shownInput(inputOf(theirs)))}
          onMine={() => saveOver(input)}
          onTheirs={() => {
            setInput(inputOf(theirs));
            takeTheirs();
          }}
        />
      )}
    </form>
  );
}

async function send(input: EndpointInput, before: Endpoint, etag: string | null) {
  const { id, type } = before;
  const body = { ...bodyOf(input, before), ...(type !== "pull" && { url: input.url.trim() }) };
  const header = etag === null ? {} : { "If-Match": etag };
  return versioned(api.PATCH("/api/v1/webhooks/endpoints/{id}", { params: { path: { id }, header }, body }));
}
