import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { ChangeForm, useChange } from "../../parts/dialog.tsx";
import { TextArea, TextField } from "../../parts/fields.tsx";
import { Id } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, dataOf } from "../../session/api.ts";

/** Publishes one event of the account to all endpoints that want its type. */
export function PublishEvent({ type: preset, onClose }: { readonly type: string; readonly onClose: () => void }) {
  const [type, setType] = useState(preset);
  const [data, setData] = useState('{\n  "hello": "world"\n}');
  const publication = useChange(async () => {
    const body = { type: type.trim(), data: objectIn(data) };
    const sent = { body, bodySerializer: () => eventText(type, data) };
    return (await dataOf(api.POST("/api/v1/webhooks/events", sent))).items[0];
  });
  const published = publication.data;
  return (
    <Panel title="Publish an event" actions={<Button label="Close" onClick={onClose} />}>
      <ChangeForm change={publication} what="event" submitLabel="Publish" kind="main">
        <TextField
          label="Type"
          hint="A name of your own, such as order.paid."
          required
          spellCheck={false}
          value={type}
          set={setType}
        />
        <TextArea label="Data" hint="A JSON object." rows={6} spellCheck={false} value={data} set={setData} />
      </ChangeForm>
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
      <Curl method="POST" path="api/v1/webhooks/events" body={eventText(type, data)} />
    </Panel>
  );
}

/** Writes the event with its data as they were typed: a printed number could be another. */
const eventText = (type: string, data: string): string => `{"type":${JSON.stringify(type.trim())},"data":${data}}`;

/** @throws Error for what is no JSON object */
function objectIn(text: string): Record<string, unknown> {
  const data = parsed(text);
  if (typeof data !== "object" || data === null || Array.isArray(data))
    throw new Error("Data: this is not a JSON object.");
  return data as Record<string, unknown>;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
