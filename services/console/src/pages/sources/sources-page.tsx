import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { StackedBars } from "../../parts/bars.tsx";
import { Id, Status } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api, useMay } from "../../session/api.ts";
import { RejectionsLink, SourceLink } from "../links.tsx";
import { type Source, type SourceDay, sourceDayQuery, sourceStates, webhookSeries } from "../sources.ts";

/** The senders that post webhooks to the account, each with its last day. */
export function SourcesPage() {
  const mayWrite = useMay("webhooks:write");
  return (
    <Page
      title="Sources"
      actions={
        mayWrite && (
          <Link to="/webhooks/connect" className="main">
            Connect a sender
          </Link>
        )
      }
    >
      <ResourceList
        label="Sources"
        noun="source"
        path="api/v1/webhooks/sources"
        read={(query) => api.webhookSources.list(query)}
        filters={{ text: "Name or id", status: choice("Status", sourceStates) }}
        empty={
          <>
            <p>There is no source yet. A source is the address at which one sender posts webhooks to you.</p>
            {mayWrite && <Link to="/webhooks/connect">Connect a sender</Link>}
          </>
        }
        columns={{
          Source: (source) => <Name source={source} />,
          Status: ({ status }) => <Status>{status}</Status>,
          Accepted: ({ id }) => <Figure id={id} show={({ accepted }) => accepted.toLocaleString()} />,
          Duplicates: ({ id }) => <Figure id={id} show={({ duplicates }) => duplicates.toLocaleString()} />,
          Rejected: ({ id }) => (
            <Figure
              id={id}
              show={({ rejected }) =>
                rejected === 0 ? "0" : <RejectionsLink id={id}>{rejected.toLocaleString()}</RejectionsLink>
              }
            />
          ),
          "24 hours": ({ id }) => (
            <Figure
              id={id}
              show={({ buckets }) => <StackedBars buckets={buckets} series={webhookSeries} label="Webhooks" />}
            />
          ),
        }}
      />
    </Page>
  );
}

const Name = ({ source: { id, name, scheme } }: { readonly source: Source }) => (
  <>
    <SourceLink id={id}>{name}</SourceLink>
    <div className={parts.quiet}>{scheme}</div>
    <Id value={id} />
  </>
);

/** A figure of the last day, which comes after the list. */
function Figure({ id, show }: { readonly id: string; readonly show: (day: SourceDay) => React.ReactNode }) {
  const { data, isError } = useQuery(sourceDayQuery(id));
  if (isError) return <span className={parts.quiet}>unknown</span>;
  return data ? show(data) : <span className={parts.quiet}>…</span>;
}
