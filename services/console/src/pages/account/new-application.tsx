import type { IssuedOauthApplication } from "@signalbox/client";
import { useState } from "react";
import { CreateForm } from "../../parts/create-form.tsx";
import { Field } from "../../parts/lists.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { ApplicationFields } from "./application-fields.tsx";
import { bodyOf, emptyApplication } from "./application-input.ts";

const types = [
  ["browser", "in a browser: a page with a script"],
  ["server", "on a server: it keeps a secret"],
  ["native", "on the person's machine"],
  ["device", "on a device without a browser"],
] as const;

type Type = (typeof types)[number][0];

interface NewProps {
  readonly onDone: (application: IssuedOauthApplication) => void;
  readonly onCancel: () => void;
}

/** The form of a new application. Where it runs and who made it stay as they are then. */
export function NewApplication({ onDone, onCancel }: NewProps) {
  const [input, setInput] = useState(emptyApplication);
  const [type, setType] = useState<Type>("browser");
  const [isOfOthers, setOfOthers] = useState(false);
  const create = (idempotencyKey: string) => {
    const { consent, ...body } = bodyOf(input);
    // Without a choice it is asked where it is due.
    const asked = input.isAsking ? { consent } : {};
    const party = isOfOthers ? ("third" as const) : ("first" as const);
    return api.oauthApplications.create({ ...body, ...asked, type, party }, { idempotencyKey });
  };
  return (
    <CreateForm
      title="New application"
      what="application"
      action="Make the application"
      create={create}
      onDone={onDone}
      onCancel={onCancel}
    >
      <Field label="It runs">
        {(ids) => (
          <select {...ids} value={type} onChange={({ target }) => setType(target.value as Type)}>
            {types.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        )}
      </Field>
      <label className={parts.check}>
        <input type="checkbox" checked={isOfOthers} onChange={({ target }) => setOfOthers(target.checked)} />
        It was made by somebody else
      </label>
      <ApplicationFields input={input} set={(changed) => setInput({ ...input, ...changed })} />
    </CreateForm>
  );
}
