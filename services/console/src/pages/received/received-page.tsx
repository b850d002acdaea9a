import { Link } from "@tanstack/react-router";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { RejectionsLink, SourceReplaysLink } from "../links.tsx";
import { ChosenSource, SourceList } from "../source-list.tsx";

/** The webhooks that a source accepted, newest first. */
export const ReceivedPage = () => (
  <Page title="Received" actions={<Link to="/webhooks/bookmarks">All bookmarks</Link>}>
    <ChosenSource>{(id) => <ReceivedOf id={id} />}</ChosenSource>
  </Page>
);

const ReceivedOf = ({ id }: { readonly id: string }) => (
  <SourceList
    id={id}
    name="received"
    label="Received webhooks"
    noun="received webhook"
    read={(query) => api.receivedWebhooks.list(id, query)}
    filters={{
      event_type: "Type",
      delivery_id: "Sender's id",
      forwarded: choice("Forwarded", ["true", "false"]),
    }}
    links={
      <>
        <RejectionsLink id={id}>Rejected</RejectionsLink>
        <SourceReplaysLink id={id}>Publish again</SourceReplaysLink>
      </>
    }
    empty="Nothing received yet, or it is past its retention. Rejected webhooks have their own page."
    columns={{
      Webhook: ({ id: ref, event_type }) => (
        <>
          <Link to="/webhooks/sources/$id/received/$ref" params={{ id, ref }}>
            {event_type ?? "without a type"}
          </Link>
          <Id value={ref} />
        </>
      ),
      "Sender's id": ({ delivery_id, same_content_as }) => (
        <>
          <code>{delivery_id}</code>
          {same_content_as && <div className={parts.quiet}>same content as {same_content_as}</div>}
        </>
      ),
      Forwarded: ({ forwarded }) => (
        <Status tone={forwarded ? "good" : "off"}>{forwarded ? "forwarded" : "stored only"}</Status>
      ),
      Bytes: ({ body_bytes }) => body_bytes.toLocaleString(),
      Received: ({ received_at }) => <Time at={received_at} />,
    }}
  />
);
