import { CheckField, fieldsOf, type InputProps, TextArea, TextField } from "../../parts/fields.tsx";
import { useCredential } from "../../session/api.ts";
import type { ApplicationInput } from "./application-input.ts";
import { ScopeChoice } from "./scope-choice.tsx";

/** The fields of an application, for a new one and for one that is edited. */
export function ApplicationFields({ input, set }: InputProps<ApplicationInput>) {
  const { data: own } = useCredential();
  // What it has already may stay, also where this person has less.
  const offered = [...new Set([...(own?.scopes ?? []), ...input.scopes])];
  const field = fieldsOf(input, set);
  return (
    <>
      <TextField label="Name" hint="People read it when they sign in." required maxLength={100} {...field("name")} />
      <TextArea
        label="A sign-in may return to"
        hint="One address on each line, compared exactly. None for a device."
        rows={2}
        spellCheck={false}
        {...field("redirectUris")}
      />
      <TextArea
        label="A sign-out may return to"
        hint="One address on each line."
        rows={2}
        spellCheck={false}
        {...field("signOutUris")}
      />
      <TextField
        label="Address of its logo"
        hint="https; shown where a person is asked. It may be empty."
        type="url"
        {...field("logo")}
      />
      <CheckField label="Ask each person for consent; applications of others always ask" {...field("isAsking")} />
      <ScopeChoice
        legend="Its tokens may at most"
        offered={offered}
        chosen={input.scopes}
        choose={(scopes) => set({ scopes })}
      />
    </>
  );
}
