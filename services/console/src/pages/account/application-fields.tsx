import type { FieldsData } from "../../parts/form.tsx";
import { useCredential } from "../../session/api.ts";
import type { ApplicationInput } from "./application-input.ts";
import { ScopeChoice } from "./scope-choice.tsx";

/** The fields of an application, for a new one and for one that is edited. */
export function useApplicationFields(): FieldsData<ApplicationInput> {
  const { data: own } = useCredential();
  return {
    name: { label: "Name", hint: "People read it when they sign in.", required: true, maxLength: 100 },
    redirectUris: {
      label: "A sign-in may return to",
      hint: "One address on each line, compared exactly. None for a device.",
      rows: 2,
    },
    signOutUris: { label: "A sign-out may return to", hint: "One address on each line.", rows: 2 },
    logo: { label: "Address of its logo", hint: "https; shown where a person is asked. It may be empty.", type: "url" },
    isAsking: { label: "Ask each person for consent; applications of others always ask" },
    scopes: ({ value, set }) => (
      <ScopeChoice
        legend="Scopes of its tokens at most"
        // What it has already may stay, also where this person has less.
        offered={[...new Set([...(own?.scopes ?? []), ...value])]}
        chosen={value}
        choose={set}
      />
    ),
  };
}
