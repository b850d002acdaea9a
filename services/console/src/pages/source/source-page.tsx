import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { StackedBars } from "../../parts/bars.tsx";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EffectiveSettings } from "../../parts/effective-settings.tsx";
import { copied, Id, Time, toned } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, ifMatch, useMay, type Versioned, versioned } from "../../session/api.ts";
import { ReceivedLink, RejectionsLink, SourceReplaysLink, VerifyLink } from "../links.tsx";
import { type Source, sourceDayQuery, sourceQuery, sourceTones, webhookSeries } from "../sources.ts";
import { Addresses } from "./addresses.tsx";
import { EditSource } from "./edit-source.tsx";
import { SourceSecrets } from "./source-secrets.tsx";

/** One source: how it does, its address, its secrets with their ends, and its settings as they hold. */
export function SourcePage() {
  const { id } = useParams({ from: "/webhooks/sources/$id" });
  const source = useQuery(sourceQuery(id));
  const [isEditing, setEditing] = useState(false);
  const mayWrite = useMay("webhooks:write");
  return (
    <OnePage
      title="Source"
      actions={
        <>
          <VerifyLink id={id}>Verify a webhook</VerifyLink>
          {mayWrite && source.data && <Actions current={source.data} onEdit={() => setEditing(true)} />}
        </>
      }
      query={source}
      what="source"
      path={`api/v1/webhooks/sources/${id}`}
    >
      {(current) => (
        <>
          {isEditing ? (
            <EditSource current={current} onDone={() => setEditing(false)} />
          ) : (
            <State source={current.data} />
          )}
          <SourceSecrets source={current.data} />
          <Addresses source={current.data} />
          <EffectiveSettings settings={current.data.effective_settings} text={current.text} origins={origins} />
        </>
      )}
    </OnePage>
  );
}

interface ActionsProps {
  readonly current: Versioned<Source>;
  readonly onEdit: () => void;
}

function Actions({ current: { data: source, etag }, onEdit }: ActionsProps) {
  const navigate = useNavigate();
  const { id, name, status } = source;
  const header = ifMatch(etag);
  const become = (wanted: Source["status"]) => () =>
    versioned(
      api.PATCH("/api/v1/webhooks/sources/{id}", { params: { path: { id }, header }, body: { status: wanted } }),
    );
  return (
    <>
      <Button label="Edit" onClick={onEdit} />
      {status === "active" ? (
        <Action
          label="Pause"
          what="source"
          name={name}
          confirm="Its sender is answered 503 and tries again later. Senders give up after a while; look at their page about retries."
          run={become("paused")}
        />
      ) : (
        <Action label="Resume" what="source" kind="main" run={become("active")} />
      )}
      <Action
        label="Delete"
        what="source"
        name={name}
        kind="danger"
        confirm="Its address answers 404, and what it received and rejected is deleted. This cannot be undone."
        run={() => versioned(api.DELETE("/api/v1/webhooks/sources/{id}", { params: { path: { id }, header } }))}
        onDone={() => void navigate({ to: "/webhooks/sources" })}
      />
    </>
  );
}

const meanings: Readonly<Record<Source["status"], string>> = {
  active: "It takes webhooks.",
  paused: "It answers 503, so that the sender tries again.",
  stopped: "It answers 202 and keeps nothing.",
};

function State({ source }: { readonly source: Source }) {
  const { id, name, status, scheme, event_types, forward, ingest_url, warnings, created_at } = source;
  const day = useQuery(sourceDayQuery(id));
  return (
    <Panel
      title={name}
      actions={
        <>
          <ReceivedLink id={id}>Received</ReceivedLink>
          <RejectionsLink id={id}>Rejected</RejectionsLink>
          <SourceReplaysLink id={id}>Publish again</SourceReplaysLink>
        </>
      }
    >
      <Pairs
        items={[
          ["Status", toned(sourceTones[status], status)],
          ["Meaning", meanings[status]],
          ["Address", copied(ingest_url)],
          ["Scheme", scheme],
          ["Types", event_types?.join(", ") ?? "all"],
          ["Forwarded", forward ? "yes, to the endpoints that want the type" : "no"],
          ["Id", <Id key="" value={id} />],
          ["Added", <Time key="" at={created_at} />],
        ]}
      />
      {warnings.map(({ code, message }) => (
        <p key={code} className={parts.wait}>
          {message}
        </p>
      ))}
      <Answer query={day} what="statistics">
        {({ buckets, accepted, duplicates, rejected, filtered }) => (
          <>
            <p>
              24 hours: {accepted.toLocaleString()} accepted, {duplicates.toLocaleString()} duplicates,{" "}
              {rejected.toLocaleString()} rejected
              {filtered > 0 && `, ${filtered.toLocaleString()} filtered by type`}
            </p>
            <StackedBars buckets={buckets} series={webhookSeries} label="Webhooks by hour" height={40} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

const origins = {
  source: "its own",
  preset: "of the preset",
  property: "of the service",
  default: "default of the scheme",
} as const;
