import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { type Scope, useCredential } from "../../session/api.ts";
import type { CredentialKind, Issued } from "./credential-kinds.ts";
import { ScopeChoice } from "./scope-choice.tsx";

const lifetimes = [
  ["", "never by itself"],
  ["1", "in a day"],
  ["30", "in 30 days"],
  ["90", "in 90 days"],
  ["365", "in a year"],
] as const;

/** The form of a new key or client. It may do at most what its maker may. */
export function NewCredential({ kind, ...ways }: CreateProps<Issued> & { readonly kind: CredentialKind }) {
  const { data: own } = useCredential();
  return (
    <CreateForm
      title={`New ${kind.noun}`}
      what={kind.noun}
      submitLabel={`Make the ${kind.noun}`}
      initial={{ name: "", scopes: [] as Scope[], days: "" }}
      fields={{
        name: { label: "Name", hint: "Says which program has it.", required: true, maxLength: 100 },
        scopes: ({ value, set }) => (
          <ScopeChoice legend="Scopes" offered={own?.scopes ?? []} chosen={value} choose={set} />
        ),
        days: { label: "It ends", choices: lifetimes },
      }}
      run={({ name, scopes, days }, openedMs) => {
        if (scopes.length === 0) throw new Error(`Scopes: choose what the ${kind.noun} may do.`);
        const expires_at = days === "" ? null : new Date(openedMs + Number(days) * 86_400_000).toISOString();
        return kind.create({ name: name.trim(), scopes, expires_at });
      }}
      {...ways}
    />
  );
}
