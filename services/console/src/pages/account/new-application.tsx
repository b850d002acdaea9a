import type { IssuedOauthApplication } from "@signalbox/client";
import { useState } from "react";
import { CreateForm, type CreateProps } from "../../parts/create-form.tsx";
import { CheckField, SelectField } from "../../parts/fields.tsx";
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

/** The form of a new application. Where it runs and who made it stay as they are then. */
export function NewApplication(ways: CreateProps<IssuedOauthApplication>) {
  const [input, setInput] = useState(emptyApplication);
  const [type, setType] = useState<Type>("browser");
  const [isOfOthers, setOfOthers] = useState(false);
  const create = () => {
    const { consent, ...body } = bodyOf(input);
    // Without a choice it is asked where it is due.
    const asked = input.isAsking ? { consent } : {};
    const party = isOfOthers ? ("third" as const) : ("first" as const);
    return api.oauthApplications.create({ ...body, ...asked, type, party });
  };
  return (
    <CreateForm title="New application" what="application" action="Make the application" create={create} {...ways}>
      <SelectField label="It runs" choices={types} value={type} set={setType} />
      <CheckField label="It was made by somebody else" value={isOfOthers} set={setOfOthers} />
      <ApplicationFields input={input} set={(changed) => setInput({ ...input, ...changed })} />
    </CreateForm>
  );
}
