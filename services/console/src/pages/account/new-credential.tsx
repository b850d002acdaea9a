import { useState } from "react";
import { CreateForm } from "../../parts/create-form.tsx";
import { Field } from "../../parts/lists.tsx";
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
  const create = (idempotencyKey: string) => {
    if (scopes.length === 0) throw new Error(`Scopes: choose what the ${kind.noun} may do.`);
    return kind.create({ name: name.trim(), scopes, expires_at: endIn(days) }, idempotencyKey);
  };
  return (
    <CreateForm
      title={`New ${kind.noun}`}
      what={kind.noun}
      action={`Make the ${kind.noun}`}
      create={create}
      onDone={onDone}
      onCancel={onCancel}
    >
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
    </CreateForm>
  );
}

const endIn = (days: string): string | null =>
  days === "" ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
