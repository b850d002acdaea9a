import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { type Scope, useCredential } from "../../session/api.ts";
import type { CredentialKind, Issued } from "./credential-kinds.ts";
import { ScopeChoice } from "./scope-choice.tsx";

interface NewProps {
  readonly kind: CredentialKind;
  readonly onDone: (issued: Issued) => void;
  readonly onCancel: () => void;
}

/** The form of a new key or client. It may do at most what its maker may. */
export function NewCredential({ kind, onDone, onCancel }: NewProps) {
  const { data: own } = useCredential();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>([]);
  const [days, setDays] = useState("");
  // The same key for the same form: a second press after a lost answer makes no second credential.
  const [key] = useState(() => crypto.randomUUID());
  const creation = useChange(() => {
    if (scopes.length === 0) throw new Error(`Scopes: choose what the ${kind.noun} may do.`);
    return kind.create({ name: name.trim(), scopes, expires_at: endIn(days) }, key);
  }, onDone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creation.mutate();
  };
  return (
    <form className={parts.panel} onSubmit={submit} aria-label={`New ${kind.noun}`}>
      <h2>New {kind.noun}</h2>
      <Field label="Name" hint="Says which program has it.">
        {(ids) => (
          <input {...ids} required maxLength={100} value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <ScopeChoice legend="It may" offered={own?.scopes ?? []} chosen={scopes} choose={setScopes} />
      <Field label="It ends">
        {(ids) => (
          <select {...ids} value={days} onChange={({ target }) => setDays(target.value)}>
            <option value="">never by itself</option>
            <option value="1">in a day</option>
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
          </select>
        )}
      </Field>
      {creation.error && <Failure error={creation.error} what={kind.noun} />}
      <div className={parts.row}>
        <button type="submit" className="main" disabled={creation.isPending}>
          Make the {kind.noun}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}

const endIn = (days: string): string | null =>
  days === "" ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
