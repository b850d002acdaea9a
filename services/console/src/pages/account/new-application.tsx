import type { IssuedOauthApplication } from "@signalbox/client";
import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { api } from "../../session/api.ts";
import { useApplicationFields } from "./application-fields.tsx";
import { bodyOf, emptyApplication } from "./application-input.ts";

const types = [
  ["browser", "in a browser: a page with a script"],
  ["server", "on a server: it keeps a secret"],
  ["native", "on the person's machine"],
  ["device", "on a device without a browser"],
] as const;

const initial = { ...emptyApplication, type: "browser" as (typeof types)[number][0], isOfOthers: false };

/** The form of a new application. Where it runs and who made it stay as they are then. */
export function NewApplication(ways: CreateProps<IssuedOauthApplication>) {
  const fields = useApplicationFields();
  return (
    <CreateForm
      title="New application"
      what="application"
      submitLabel="Make the application"
      initial={initial}
      fields={{
        type: { label: "It runs", choices: types },
        isOfOthers: { label: "It was made by somebody else" },
        ...fields,
      }}
      run={(input) => {
        const { consent, ...body } = bodyOf(input);
        // Without a choice it is asked where it is due.
        const asked = input.isAsking ? { consent } : {};
        const party = input.isOfOthers ? ("third" as const) : ("first" as const);
        return api.oauthApplications.create({ ...body, ...asked, type: input.type, party });
      }}
      {...ways}
    />
  );
}
