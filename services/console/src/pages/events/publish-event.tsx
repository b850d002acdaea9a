import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { useChange } from "../../parts/dialog.tsx";
import { Id } from "../../parts/inline.tsx";
import { Curl, Field } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, versioned } from "../../session/api.ts";

/** Publishes one event of the account to all endpoints that want its type. */
export function PublishEvent({ type: preset, onClose }: { readonly type: string; readonly onClose: () => void }) {
  const [type, setType] = useState(preset);
  const [data, setData] = useState('{\n  "hello": "world"\n}');
  const publication = useChange(async () => {
    const body = { type: type.trim(), data: dataOf(data) };
    const header = { "Idempotency-Key": crypto.randomUUID() };
    return (await versioned(api.POST("/api/v1/webhooks/events", { params: { header }, body }))).data.items[0];
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    publication.mutate();
  };
  const published = publication.data;
  return (
    <Panel
      title="Publish an event"
      actions={
        <button type="button" onClick={onClose}>
          Close
        </button>
      }
    >
      <form className={parts.page} onSubmit={submit}>
        <Field label="Type" hint="A name of your own, such as order.paid.">
          {(ids) => (
            <input {...ids} required spellCheck={false} value={type} onChange={({ target }) => setType(target.value)} />
          )}
        </Field>
        <Field label="Data" hint="A JSON object.">
          {(ids) => (
            <textarea
              {...ids}
              rows={6}
              spellCheck={false}
              value={data}
              onChange={({ target }) => setData(target.value)}
            />
          )}
        </Field>
        {publication.error && <Failure error={publication.error} what="event" />}
        <div>
          <button type="submit" className="main" disabled={publication.isPending}>
            Publish
          </button>
        </div>
      </form>
      <div role="status">
        {published && (
          <>
            <p>
              Published.{" "}
              <Link to="/webhooks/deliveries" search={{ event_id: published.id }}>
                See its deliveries
              </Link>
            </p>
            <Id value={published.id} />
            {published.warnings.map(({ pointer, message }) => (
              <p key={`${pointer} ${message}`} className={parts.wait}>
                <code>{pointer}</code> {message}
              </p>
            ))}
          </>
        )}
      </div>
      <Curl method="POST" path="api/v1/webhooks/events" body={{ type, data: tryDataOf(data) }} />
    </Panel>
  );
}

/** @throws Error for what is no JSON object */
function dataOf(text: string): Record<string, unknown> {
  const data = tryDataOf(text);
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new Error("Data: this is not a JSON object.");
  return data as Record<string, unknown>;
}

function tryDataOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
