import { useState } from "react";
import { CreateForm, type CreateProps } from "../../parts/create-form.tsx";
import { SelectField, TextField } from "../../parts/fields.tsx";
import { type Scope, useCredential } from "../../session/api.ts";
import type { CredentialKind, Issued } from "./credential-kinds.ts";
import { ScopeChoice } from "./scope-choice.tsx";

interface NewCredentialProps extends CreateProps<Issued> {
  readonly kind: CredentialKind;
}

/** The form of a new key or client. It may do at most what its maker may. */
export function NewCredential({ kind, ...ways }: NewCredentialProps) {
  const { data: own } = useCredential();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<Scope[]>([]);
  const [days, setDays] = useState("");
  const create = (openedMs: number) => {
    if (scopes.length === 0) throw new Error(`Scopes: choose what the ${kind.noun} may do.`);
    return kind.create({ name: name.trim(), scopes, expires_at: endIn(days, openedMs) });
  };
  return (
    <CreateForm title={`New ${kind.noun}`} what={kind.noun} action={`Make the ${kind.noun}`} create={create} {...ways}>
      <TextField label="Name" hint="Says which program has it." required maxLength={100} value={name} set={setName} />
      <ScopeChoice legend="It may" offered={own?.scopes ?? []} chosen={scopes} choose={setScopes} />
      <SelectField
        label="It ends"
        choices={[
          ["", "never by itself"],
          ["1", "in a day"],
          ["30", "in 30 days"],
          ["90", "in 90 days"],
          ["365", "in a year"],
        ]}
        value={days}
        set={setDays}
      />
    </CreateForm>
  );
}

const endIn = (days: string, openedMs: number): string | null =>
  days === "" ? null : new Date(openedMs + Number(days) * 86_400_000).toISOString();
