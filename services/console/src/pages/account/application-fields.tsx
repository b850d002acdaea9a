import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { useCredential } from "../../session/api.ts";
import type { ApplicationInput } from "./application-input.ts";
import { ScopeChoice } from "./scope-choice.tsx";

interface FieldsProps {
  readonly input: ApplicationInput;
  readonly set: (changed: Partial<ApplicationInput>) => void;
}

/** The fields of an application, for a new one and for one that is edited. */
export function ApplicationFields({ input, set }: FieldsProps) {
  const { data: own } = useCredential();
  // What it has already may stay, also where this person has less.
  const offered = [...new Set([...(own?.scopes ?? []), ...input.scopes])];
  return (
    <>
      <Field label="Name" hint="People read it when they sign in.">
        {(ids) => (
          <input
            {...ids}
            required
            maxLength={100}
            value={input.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        )}
      </Field>
      <Field label="A sign-in may return to" hint="One address on each line, compared exactly. None for a device.">
        {(ids) => (
          <textarea
            {...ids}
            rows={2}
            spellCheck={false}
            value={input.redirectUris}
            onChange={({ target }) => set({ redirectUris: target.value })}
          />
        )}
      </Field>
      <Field label="A sign-out may return to" hint="One address on each line.">
        {(ids) => (
          <textarea
            {...ids}
            rows={2}
            spellCheck={false}
            value={input.signOutUris}
            onChange={({ target }) => set({ signOutUris: target.value })}
          />
        )}
      </Field>
      <Field label="Address of its logo" hint="https; shown where a person is asked. It may be empty.">
        {(ids) => (
          <input {...ids} type="url" value={input.logo} onChange={({ target }) => set({ logo: target.value })} />
        )}
      </Field>
      <label className={parts.check}>
        <input type="checkbox" checked={input.isAsking} onChange={({ target }) => set({ isAsking: target.checked })} />
        Ask each person for consent; applications of others always ask
      </label>
      <ScopeChoice
        legend="Its tokens may at most"
        offered={offered}
        chosen={input.scopes}
        choose={(scopes) => set({ scopes })}
      />
    </>
  );
}
