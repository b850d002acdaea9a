import type { WebhookRejection } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { Status, Time } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { ReceivedLink, RejectionRetriesLink, VerifyLink } from "../links.tsx";
import { ChosenSource, SourceList } from "../source-list.tsx";
import { reasonNames, wordsOf } from "./reason-words.ts";

/** The webhooks that a source refused, newest first, with the reason of each. */
export const RejectionsPage = () => (
  <Page title="Rejected">
    <ChosenSource>{(id) => <RejectionsOf id={id} />}</ChosenSource>
  </Page>
);

const RejectionsOf = ({ id }: { readonly id: string }) => (
  <SourceList
    id={id}
    name="rejections"
    label="Rejections"
    noun="rejection"
    read={(query) => api.rejectedWebhooks.list(id, query)}
    filters={{ reason: choice("Reason", reasonNames) }}
    links={
      <>
        <ReceivedLink id={id}>Received</ReceivedLink>
        <RejectionRetriesLink id={id}>Verify all again</RejectionRetriesLink>
        <VerifyLink id={id}>Verify a webhook</VerifyLink>
      </>
    }
    empty="No rejected webhooks. The list keeps only the newest."
    columns={{
      Reason: ({ id: ref, reason }) => (
        <>
          <Link to="/webhooks/sources/$id/rejections/$ref" params={{ id, ref }}>
            {wordsOf(reason).what}
          </Link>
          <div className={parts.quiet}>{reason}</div>
        </>
      ),
      Answer: ({ status }) => `HTTP ${status}`,
      From: ({ address }) => <code>{address}</code>,
      Kept: (rejection) => <Kept rejection={rejection} />,
      Rejected: ({ rejected_at }) => <Time at={rejected_at} />,
    }}
  />
);

function Kept({ rejection: { kept, received_id } }: { readonly rejection: WebhookRejection }) {
  if (received_id !== null) return <Status tone="good">received later</Status>;
  return <Status tone={kept ? "wait" : "off"}>{kept ? "can be retried" : "not stored"}</Status>;
}
