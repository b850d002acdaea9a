import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { StackedBars } from "../../parts/bars.tsx";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { EffectiveSettings } from "../../parts/effective-settings.tsx";
import type { FieldsData } from "../../parts/form.tsx";
import { copied, Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, ifMatch, useMay, type Versioned, versioned } from "../../session/api.ts";
import { ReceivedLink, RejectionsLink, SourceReplaysLink, VerifyLink } from "../links.tsx";
import { readSource, type Source, sourceDayQuery, sourceQuery, sourceStates, webhookSeries } from "../sources.ts";
import { inputOf, patchOf, type SourceInput } from "./source-input.ts";
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
  const become = (wanted: Source["status"]) => () => api.webhookSources.update(id, { status: wanted }, ifMatch(etag));
  return (
    <>
      <Button label="Edit" onClick={onEdit} />
      {status === "active" ? (
        <Action
          label="Pause"
          what="source"
          name={name}
          confirm="The sender gets 503 and retries later. Senders give up after a while; see what theirs documents about retries."
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
        confirm="Its address answers 404, and everything it received and rejected is deleted. This cannot be undone."
        run={() => api.webhookSources.delete(id, ifMatch(etag))}
        onDone={() => void navigate({ to: "/webhooks/sources" })}
      />
    </>
  );
}

const meanings: Readonly<Record<Source["status"], string>> = {
  active: "It accepts webhooks.",
  paused: "It answers 503, so that the sender retries.",
  stopped: "It answers 202 and stores nothing.",
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
          ["Status", <Status key="">{status}</Status>],
          ["Meaning", meanings[status]],
          ["Address", copied(ingest_url)],
          ["Scheme", scheme],
          ["Types", event_types?.join(", ") ?? "all"],
          ["Forwarded", forward ? "yes, to endpoints that subscribe to the type" : "no"],
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
  source: "source",
  preset: "preset",
  property: "service",
  default: "scheme default",
} as const;

/** The addresses that the sender may post to, with their ends. */
function Addresses({ source: { id, addresses = [], ingest_path, ingest_url } }: { readonly source: Source }) {
  const mayWrite = useMay("webhooks:write");
  const base = ingest_url.slice(0, -ingest_path.length);
  return (
    <Panel
      title="Addresses"
      actions={
        mayWrite && (
          <>
            <Action
              label="Change the address"
              what="address"
              confirm="The current address works for one more day, so that you can change it at the sender."
              run={() => api.webhookSources.rotateUrl(id, { overlap_seconds: 86_400 })}
            />
            {addresses.length > 1 && (
              <Action
                label="Revoke the previous address"
                what="address"
                kind="danger"
                confirm="Requests to it are answered with 404 from now on."
                run={() => api.webhookSources.deletePreviousAddresses(id)}
              />
            )}
          </>
        )
      }
    >
      <Table
        label="Addresses"
        rows={addresses}
        keyOf={({ id }) => id}
        columns={{
          Address: ({ ingest_path }) => copied(base + ingest_path),
          Created: ({ created_at }) => <Time at={created_at} />,
          Expires: ({ ends_at }) => (ends_at ? <Time at={ends_at} /> : "never"),
        }}
      />
    </Panel>
  );
}

/** Edits a source. When somebody else changed it meanwhile, both versions are shown and the person decides. */
function EditSource({ current, onDone }: { readonly current: Versioned<Source>; readonly onDone: () => void }) {
  const { id } = current.data;
  const edit = useEdit({ current, queryKey: ["source", id], inputOf, read: () => readSource(id), save: send, onDone });
  return <EditForm edit={edit} label="Edit the source" what="source" onCancel={onDone} fields={fields} />;
}

const fields: FieldsData<SourceInput> = {
  name: { label: "Name", required: true },
  status: {
    label: "Status",
    hint: "paused answers 503, so that the sender retries; stopped answers 202 and stores nothing.",
    choices: sourceStates,
  },
  eventTypes: {
    label: "Types",
    hint: "One per line; order.* matches every type that begins with order. — Empty: every type.",
    rows: 3,
  },
  forward: { label: "Forward accepted webhooks to your endpoints" },
  keepRejected: { label: "Keep rejected webhooks, so that they can be retried once the cause is fixed" },
  settings: {
    label: "Other settings",
    hint: "A JSON object. Settings that it omits have their defaults, which are listed below.",
    rows: 8,
  },
};

async function send(input: SourceInput, before: Source, etag: string | null) {
  return versioned(api.webhookSources.update(before.id, patchOf(input, before) as object, ifMatch(etag)));
}
