import type { IssuedOauthApplication } from "@signalbox/client";
import { CreateForm, type CreateProps } from "../../parts/form.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { useCreation } from "../../parts/secret.tsx";
import { api } from "../../session/api.ts";
import { ApplicationLink } from "../links.tsx";
import { AccountFrame } from "./account-frame.tsx";
import { bodyOf, emptyApplication, useApplicationFields } from "./application-fields.tsx";
import { Scopes } from "./scope-choice.tsx";

const secretText = "The server sends it to the token endpoint with its id. Keep it where the server keeps its secrets.";

/** The applications that people sign in to, besides those that are built in. */
export function ApplicationsPage() {
  const { action, panels } = useCreation({
    label: "New application",
    form: (ways) => <NewApplication {...ways} />,
    onceOf: ({ name, client_secret: secret }: IssuedOauthApplication) =>
      secret === null ? null : { title: `The secret of ${name}`, text: secretText, secret },
  });
  return (
    <AccountFrame title="Applications" actions={action}>
      <p>People sign in to these with their account of this deployment. The console and the command are built in.</p>
      {panels}
      <ResourceList
        label="Applications"
        noun="application"
        path="api/v1/oauth/applications"
        read={(query) => api.oauthApplications.list(query)}
        empty="No applications yet, apart from the built-in ones."
        columns={{
          Name: ({ id, name }) => (
            <>
              <ApplicationLink id={id}>{name}</ApplicationLink>
              <Id value={id} />
            </>
          ),
          Type: ({ type }) => type,
          Party: ({ party }) => party,
          Scopes: ({ scopes }) => <Scopes scopes={scopes} />,
          Changed: ({ updated_at }) => <Time at={updated_at} />,
        }}
      />
    </AccountFrame>
  );
}

const types = [
  ["browser", "browser: a single-page application"],
  ["server", "server: keeps a secret"],
  ["native", "native: on the person's machine"],
  ["device", "device: has no browser"],
] as const;

const initial = { ...emptyApplication, type: "browser" as (typeof types)[number][0], isOfOthers: false };

/** The form of a new application. Where it runs and who made it stay as they are then. */
function NewApplication(ways: CreateProps<IssuedOauthApplication>) {
  const fields = useApplicationFields();
  return (
    <CreateForm
      title="New application"
      what="application"
      submitLabel="Create the application"
      initial={initial}
      fields={{
        type: { label: "Type", choices: types },
        isOfOthers: { label: "Third-party application" },
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
