import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { useFilters } from "../../parts/lists.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { ShownOnce } from "../../parts/secret.tsx";
import { api, dataOf } from "../../session/api.ts";
import { ApplicationLink } from "../links.tsx";
import { AccountFrame } from "./account-frame.tsx";
import { NewApplication } from "./new-application.tsx";
import { Scopes } from "./scope-choice.tsx";

/** The applications that people sign in to, besides those that are built in. */
export function ApplicationsPage() {
  const [{ new: isNew }, change] = useFilters();
  const [issued, setIssued] = useState<{ readonly name: string; readonly secret: string } | null>(null);
  const close = () => change({ new: undefined });
  return (
    <AccountFrame
      title="Applications"
      actions={!isNew && <Button label="New application" className="main" onClick={() => change({ new: "yes" })} />}
    >
      <p>People sign in to these with their account of this deployment. The console and the command are built in.</p>
      {issued && (
        <ShownOnce
          title={`The secret of ${issued.name}`}
          text="The server sends it to the token endpoint with its id. Keep it where the server keeps its secrets."
          secret={issued.secret}
          onClose={() => setIssued(null)}
        />
      )}
      {isNew && (
        <NewApplication
          onCancel={close}
          onDone={({ name, client_secret: secret }) => {
            if (secret !== null) setIssued({ name, secret });
            close();
          }}
        />
      )}
      <ResourceList
        label="Applications"
        noun="application"
        path="api/v1/oauth/applications"
        read={(query) => dataOf(api.GET("/api/v1/oauth/applications", { params: { query } }))}
        empty="There is no application yet, besides those that are built in."
        columns={{
          Name: ({ id, name }) => (
            <>
              <ApplicationLink id={id}>{name}</ApplicationLink>
              <Id value={id} />
            </>
          ),
          Runs: ({ type }) => type,
          "Made by": ({ party }) => (party === "first" ? "us" : "others"),
          Scopes: ({ scopes }) => <Scopes scopes={scopes} />,
          Changed: ({ updated_at }) => <Time at={updated_at} />,
        }}
      />
    </AccountFrame>
  );
}
