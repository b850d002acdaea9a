import type { ReceivedWebhookInFull } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Action } from "../../parts/dialog.tsx";
import { FormAction } from "../../parts/form.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { api, useMay } from "../../session/api.ts";
import { BookmarkLink, SourceLink, SourceReplaysLink, WhyLink } from "../links.tsx";
import { Content } from "./content.tsx";

interface Place {
  readonly id: string;
  readonly ref: string;
}

/** One received webhook: what came, what it was understood as, and what became of it. */
export function OneReceivedPage() {
  const place = useParams({ from: "/webhooks/sources/$id/received/$ref" });
  const received = useQuery({
    queryKey: ["received-one", place],
    queryFn: () => api.receivedWebhooks.get(place.id, place.ref),
  });
  const mayWrite = useMay("webhooks:write");
  return (
    <OnePage
      title="Received webhook"
      actions={
        <>
          {mayWrite && received.data && <Actions place={place} />}
          <WhyLink id={place.ref} />
        </>
      }
      query={received}
      what="received webhook"
      path={`api/v1/webhooks/sources/${place.id}/received/${place.ref}`}
    >
      {(found) => (
        <>
          <Summary place={place} webhook={found} />
          <Content
            headers={found.headers}
            bodyKey={place.ref}
            readBody={() => api.receivedWebhooks.body(place.id, place.ref)}
          />
        </>
      )}
    </OnePage>
  );
}

function Summary({ place, webhook }: { readonly place: Place; readonly webhook: ReceivedWebhookInFull }) {
  const { id, delivery_id, delivery_id_signed, event_type, event_type_signed, forwarded, same_content_as } = webhook;
  const signed = (isSigned: boolean) => (isSigned ? "covered by the signature" : "not covered by the signature");
  return (
    <Panel title={event_type ?? "Without a type"}>
      <Pairs
        items={[
          ["Received", <Time key="" at={webhook.received_at} />],
          ["Id", <Id key="" value={id} why={false} />],
          ["Sender's id", `${delivery_id}, ${signed(delivery_id_signed)}`],
          ["Type", event_type === null ? "none found" : `${event_type}, ${signed(event_type_signed)}`],
          ["Forwarded", forwarded ? "yes, to endpoints that subscribe to the type" : "no, the source only stores it"],
          same_content_as && ["Same content as", same_content_as],
          webhook.last_repeated_at !== null && [
            "Repeated",
            <span key="">
              {webhook.repeated.toLocaleString()}, last <Time at={webhook.last_repeated_at} />
            </span>,
          ],
          ["Source", <SourceLink key="" id={place.id} />],
        ]}
      />
    </Panel>
  );
}

function Actions({ place }: { readonly place: Place }) {
  const [isPublished, setPublished] = useState(false);
  return (
    <>
      <Action
        label="Publish again"
        title="Publish the webhook again"
        what="webhook"
        kind="main"
        confirm="Your endpoints get it as a new event that names the webhook it repeats."
        run={() => api.receivedWebhookReplays.create(place.id, { ids: [place.ref], rate: 1, dry_run: false })}
        onDone={() => setPublished(true)}
      />
      <Keep place={place} />
      <span role="status">{isPublished && <SourceReplaysLink id={place.id}>Published again</SourceReplaysLink>}</span>
    </>
  );
}

/** Keeps the webhook under a name, past the retention. */
function Keep({ place }: { readonly place: Place }) {
  const [kept, setKept] = useState<string | null>(null);
  return (
    <>
      <FormAction
        label="Bookmark"
        title="Bookmark the webhook"
        submitLabel="Save it"
        what="bookmark"
        initial={{ name: "" }}
        fields={{
          name: { label: "Name", hint: "Letters, digits, dots, dashes and underscores.", required: true },
        }}
        run={({ name }) => api.receivedWebhooks.bookmark(place.id, place.ref, { name: name.trim() })}
        onDone={(bookmark) => setKept(bookmark.name)}
      >
        <p>Copies its headers and body, and keeps them past the retention, for example as a test fixture.</p>
      </FormAction>
      <span role="status">{kept !== null && <BookmarkLink id={kept}>Bookmarked as {kept}</BookmarkLink>}</span>
    </>
  );
}
