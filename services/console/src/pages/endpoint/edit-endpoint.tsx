import { ApiError } from "@signalbox/client";
import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Box, useChange } from "../../parts/dialog.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, type Versioned, versioned } from "../../session/api.ts";
import { type Endpoint, readEndpoint } from "../webhooks.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { bodyOf, differences, type EndpointInput, inputOf } from "./endpoint-input.ts";

interface EditProps {
  readonly current: Versioned<Endpoint>;
  readonly onDone: () => void;
}

/** Edits an endpoint. When somebody else changed it meanwhile, both versions are shown and the person decides. */
export function EditEndpoint({ current, onDone }: EditProps) {
  const [input, setInput] = useState(() => inputOf(current.data));
  const [base, setBase] = useState(current);
  const [theirs, setTheirs] = useState<Versioned<Endpoint> | null>(null);
  const change = useChange(async (etag: string | null) => {
    try {
      return await save(base.data.id, input, base.data, etag);
    } catch (error) {
      if (error instanceof ApiError && [409, 412].includes(error.status)) setTheirs(await readEndpoint(base.data.id));
      throw error;
    }
  }, onDone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(base.etag);
  };
  const take = (version: Versioned<Endpoint>) => {
    setBase(version);
    setInput(inputOf(version.data));
    setTheirs(null);
    change.reset();
  };
  return (
    <form className={parts.panel} onSubmit={submit} aria-label="Edit the endpoint">
      <EndpointFields input={input} change={setInput} />
      {change.error && !theirs && <Failure error={change.error} what="endpoint" />}
      <div className={parts.row}>
        <button type="submit" className="main" disabled={change.isPending}>
          Save
        </button>
        <button type="button" onClick={onDone}>
          Cancel
        </button>
      </div>
      {theirs && (
        <Conflict
          mine={input}
          theirs={inputOf(theirs.data)}
          onMine={() => {
            setBase(theirs);
            setTheirs(null);
            change.mutate(theirs.etag);
          }}
          onTheirs={() => take(theirs)}
        />
      )}
    </form>
  );
}

/** Sends the fields; the version makes sure that nobody's change is overwritten unseen. */
async function save(id: string, input: EndpointInput, before: Endpoint, etag: string | null) {
  const body = { ...bodyOf(input), ...(before.type !== "pull" && { url: input.url.trim() }) };
  const header = etag === null ? {} : { "If-Match": etag };
  return versioned(api.PATCH("/api/v1/webhooks/endpoints/{id}", { params: { path: { id }, header }, body }));
}

interface ConflictProps {
  readonly mine: EndpointInput;
  readonly theirs: EndpointInput;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
}

function Conflict({ mine, theirs, onMine, onTheirs }: ConflictProps) {
  return (
    <Box title="It has changed meanwhile" role="alertdialog" isOpen onClose={onTheirs}>
      <p>Somebody saved this endpoint after you had opened it. These fields differ:</p>
      <Table
        label="Both versions"
        rows={differences(mine, theirs)}
        keyOf={({ name }) => name}
        columns={[
          { name: "Field", cell: ({ name }) => name },
          { name: "Yours", cell: ({ mine }) => <code>{mine || "empty"}</code> },
          { name: "Saved", cell: ({ theirs }) => <code>{theirs || "empty"}</code> },
        ]}
      />
      <div className={parts.row}>
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
