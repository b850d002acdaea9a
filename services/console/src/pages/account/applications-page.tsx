import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { Curl, Pager, useFilters } from "../../parts/lists.tsx";
import { Table } from "../../parts/page.tsx";
import { ShownOnce } from "../../parts/secret.tsx";
import { api, versioned } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { NewApplication } from "./new-application.tsx";
import { Scopes } from "./scope-choice.tsx";

const path = "api/v1/oauth/applications";

/** The applications that people sign in to, besides those that are built in. */
export function ApplicationsPage() {
  const [{ cursor, new: isNew }, change] = useFilters();
  const [issued, setIssued] = useState<{ readonly name: string; readonly secret: string } | null>(null);
  const query = { limit: 20, ...(cursor && { cursor }) };
  const applications = useQuery({
    queryKey: ["applications", query],
    placeholderData: keepPreviousData,
    queryFn: async () => (await versioned(api.GET(`/${path}`, { params: { query } }))).data,
  });
  const close = () => change({ new: undefined });
  return (
    <AccountFrame
      title="Applications"
      actions={
        !isNew && (
          <button type="button" className="main" onClick={() => change({ new: "yes" })}>
            New application
          </button>
        )
      }
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
      <Answer
        query={applications}
        what="applications"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>There is no application yet, besides those that are built in.</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Applications"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Name",
                  cell: ({ id, name }) => (
                    <>
                      <Link to="/account/applications/$id" params={{ id }}>
                        {name}
                      </Link>
                      <Id value={id} />
                    </>
                  ),
                },
                { name: "Runs", cell: ({ type }) => type },
                { name: "Made by", cell: ({ party }) => (party === "first" ? "us" : "others") },
                { name: "May", cell: ({ scopes }) => <Scopes scopes={scopes} /> },
                { name: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} />
    </AccountFrame>
  );
}
