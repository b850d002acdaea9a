import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { archiveFlag } from "./flag.ts";

interface ArchiveProps {
  readonly flagKey: string;
  readonly revision: string;
  readonly onDone: () => void;
}

/** Archives a flag, once no code evaluates it. */
export function ArchiveFlag({ flagKey: key, revision, onDone }: ArchiveProps) {
  const [reason, setReason] = useState("");
  const archive = useChange(() => archiveFlag(key, { expectedRevision: revision, reason }), onDone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    archive.mutate();
  };
  return (
    <details>
      <summary>Archive it</summary>
      <form className={parts.page} onSubmit={submit}>
        <p>Code that still evaluates it gets its own default from then on.</p>
        <Field label="Reason to archive it">
          {(ids) => <input {...ids} required value={reason} onChange={({ target }) => setReason(target.value)} />}
        </Field>
        {archive.error && <Failure error={archive.error} what="flag" />}
        <div>
          <button type="submit" className="danger" disabled={archive.isPending}>
            Archive
          </button>
        </div>
      </form>
    </details>
  );
}
