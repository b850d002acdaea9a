import type { OauthApplication } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { LiveSecrets, Rotate, ShownOnce } from "../../parts/secret.tsx";
import { api, ifMatch, type Versioned, versioned } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { bodyOf, inputOf, useApplicationFields } from "./application-fields.tsx";

const readApplication = (id: string) => versioned(api.oauthApplications.get(id));

const keyOf = (id: string) => ["application", id] as const;

/** One application that people sign in to: its fields and its secrets. */
export function ApplicationPage() {
  const { id } = useParams({ strict: false }) as { readonly id: string };
  const navigate = useNavigate();
  const application = useQuery({ queryKey: keyOf(id), queryFn: () => readApplication(id) });
  return (
    <OnePage
      title={application.data?.data.name ?? "Application"}
      actions={
        <>
          <Link to="/account/applications">All applications</Link>
          {application.data && (
            <Action
              label="Delete"
              what="application"
              name={application.data.data.name}
              kind="danger"
              confirm="Nobody can sign in to it any more, and its tokens stop working everywhere within two seconds. This cannot be undone."
              run={() => api.oauthApplications.delete(id)}
              onDone={() => void navigate({ to: "/account/applications" })}
            />
          )}
        </>
      }
      query={application}
      what="application"
      path={`api/v1/oauth/applications/${id}`}
      frame={AccountFrame}
    >
      {(current) => (
        <>
          <Facts application={current.data} />
          {current.data.type === "server" && <Secrets application={current.data} />}
          <EditApplication key={id} current={current} />
        </>
      )}
    </OnePage>
  );
}

function Facts({ application }: { readonly application: OauthApplication }) {
  const { id, type, party, created_at, updated_at } = application;
  return (
    <Panel title="Application">
      <Pairs
        items={[
          ["Client id", <Id key="" value={id} />],
          ["Type", type],
          ["Party", party],
          ["Created", <Time key="" at={created_at} />],
          ["Changed", <Time key="" at={updated_at} />],
        ]}
      />
    </Panel>
  );
}

function Secrets({ application: { id, name, secrets } }: { readonly application: OauthApplication }) {
  const [shown, setShown] = useState<string | null>(null);
  const rotate = async (seconds: number | null) =>
    (await api.oauthApplications.rotateSecret(id, { overlap_seconds: seconds ?? 0 })).client_secret;
  return (
    <Panel
      title="Secrets"
      actions={
        <>
          <Rotate
            label="Rotate"
            what="secret"
            text="The server gets a new secret. The old one works too until the overlap ends."
            rotate={rotate}
            onDone={setShown}
          />
          {secrets.some(({ ends_at }) => ends_at !== null) && (
            <Action
              label="Revoke the old secrets"
              what="secret"
              kind="danger"
              confirm="A server that still uses an old secret gets no more tokens."
              run={() => api.oauthApplications.deletePreviousSecrets(id)}
            />
          )}
        </>
      }
    >
      {shown !== null && (
        <ShownOnce
          title={`The secret of ${name}`}
          text="The server sends it to the token endpoint with its id."
          secret={shown}
          onClose={() => setShown(null)}
        />
      )}
      <LiveSecrets secrets={secrets} since="Created" />
    </Panel>
  );
}

function EditApplication({ current }: { readonly current: Versioned<OauthApplication> }) {
  const { id } = current.data;
  const edit = useEdit({
    current,
    queryKey: keyOf(id),
    inputOf,
    read: () => readApplication(id),
    save: (input, _before, etag) => versioned(api.oauthApplications.update(id, bodyOf(input), ifMatch(etag))),
  });
  return (
    <EditForm edit={edit} label="Edit the application" what="application" fields={useApplicationFields()}>
      <h2>Fields</h2>
    </EditForm>
  );
}
