import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Bars } from "../../parts/bars.tsx";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { EffectiveSettings } from "../../parts/effective-settings.tsx";
import { Copy, Id, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { LiveSecrets, Rotate } from "../../parts/secret.tsx";
import { shareText } from "../../parts/time-text.ts";
import { api, ifMatch, useIsPortal, useMay, type Versioned, versioned } from "../../session/api.ts";
import { EndpointStatus, Waits } from "../endpoints/endpoints-page.tsx";
import { EndpointDeliveriesLink, EndpointReplaysLink } from "../links.tsx";
import { dayQuery, type Endpoint, endpointQuery, readEndpoint } from "../webhooks.ts";
import { EndpointFields } from "./endpoint-fields.tsx";
import { bodyOf, type EndpointInput, inputOf, withoutSecrets } from "./endpoint-input.ts";
import { TestEvent } from "./test-event.tsx";
import { VerifyCode } from "./verify-code.tsx";

/** One endpoint: how it does, what it takes, its settings as they hold, its secrets, and a test. */
export function EndpointPage() {
  const { id } = useParams({ from: "/webhooks/endpoints/$id" });
  const endpoint = useQuery(endpointQuery(id));
  const [isEditing, setEditing] = useState(false);
  const mayWrite = useMay("webhooks:write");
  const isPortal = useIsPortal();
  return (
    <OnePage
      title="Endpoint"
      actions={mayWrite && endpoint.data && <Actions endpoint={endpoint.data.data} onEdit={() => setEditing(true)} />}
      query={endpoint}
      what="endpoint"
      path={`api/v1/webhooks/endpoints/${id}`}
    >
      {(current) => (
        <>
          {isEditing ? (
            <EditEndpoint current={current} onDone={() => setEditing(false)} />
          ) : (
            <State current={current} />
          )}
          {mayWrite && <TestEvent id={id} />}
          <Secrets endpoint={current.data} />
          <EffectiveSettings
            text={current.text}
            settings={isPortal ? settingsOfSubscriber(current.data) : current.data.effective_settings}
            origins={origins}
          />
          {current.data.type !== "pull" && <VerifyCode />}
        </>
      )}
    </OnePage>
  );
}

/** Leaves out the settings that are the operator's own. */
function settingsOfSubscriber({ effective_settings: { headers: _, metadata: __, ...settings } }: Endpoint) {
  return settings;
}

function Actions({
  endpoint: { id, url, status },
  onEdit,
}: {
  readonly endpoint: Endpoint;
  readonly onEdit: () => void;
}) {
  const navigate = useNavigate();
  const isPortal = useIsPortal();
  return (
    <>
      <Button label="Edit" onClick={onEdit} />
      {status === "enabled" && (
        <Action
          label="Pause"
          what="endpoint"
          name={url}
          confirm="Nothing is sent until you resume it. Events are kept and go out then."
          run={() => api.webhookEndpoints.pause(id)}
        />
      )}
      {status === "paused" && (
        <Action label="Resume" what="endpoint" kind="main" run={() => api.webhookEndpoints.resume(id)} />
      )}
      {status === "disabled" && (
        <Action label="Enable" what="endpoint" kind="main" run={() => api.webhookEndpoints.enable(id)} />
      )}
      {!isPortal && (
        <Action
          label="Delete"
          what="endpoint"
          name={url}
          kind="danger"
          confirm="Its waiting deliveries are dropped, and its secrets are revoked. This cannot be undone."
          run={() => api.webhookEndpoints.delete(id)}
          onDone={() => void navigate({ to: "/webhooks/endpoints" })}
        />
      )}
    </>
  );
}

function State({ current: { data: endpoint } }: { readonly current: Versioned<Endpoint> }) {
  const { id, url, type, disabled_reason, description, created_at, warnings, matches } = endpoint;
  const day = useQuery(dayQuery(id));
  return (
    <Panel
      title={type === "pull" ? "Pull endpoint" : url}
      actions={
        <>
          <EndpointDeliveriesLink id={id}>View deliveries</EndpointDeliveriesLink>
          <EndpointReplaysLink id={id}>Send again</EndpointReplaysLink>
        </>
      }
    >
      {description && <p>{description}</p>}
      <Pairs
        items={[
          ["Status", <EndpointStatus key="" endpoint={endpoint} />],
          disabled_reason && ["Reason", disabled_reason],
          ["Id", <Id key="" value={id} />],
          ["Added", <Time key="" at={created_at} />],
          ["Waiting", endpoint.waiting.toLocaleString()],
          endpoint.held > 0 && ["Held", <Held key="" {...endpoint} />],
          ["Event types", matches.map(({ event_type, count }) => `${event_type} (${count} known)`).join(", ")],
        ]}
      />
      {warnings.map((warning) => (
        <p key={warning} className={parts.wait}>
          {warning}.
        </p>
      ))}
      <Answer query={day} what="statistics">
        {(figures) => (
          <>
            <p>
              24 hours: {shareText(figures.delivered, figures.attempts)}
              <Waits day={figures} oldest="the oldest waiting" />
            </p>
            <Bars buckets={figures.buckets} label="Attempts by hour" height={40} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

/** The held deliveries, and how they go out. */
const Held = ({ held, drains_at_per_second: rate, drained_at: end }: Endpoint) => (
  <>
    {held.toLocaleString()}
    {end && (
      <>
        , going out at {rate} a second until <Time at={end} />
      </>
    )}
  </>
);

const origins = { endpoint: "endpoint", property: "service", default: "default" } as const;

/** Edits an endpoint. When somebody else changed it meanwhile, both versions are shown and the person decides. */
function EditEndpoint({ current, onDone }: { readonly current: Versioned<Endpoint>; readonly onDone: () => void }) {
  const { id } = current.data;
  const edit = useEdit({
    current,
    queryKey: ["endpoint", id],
    inputOf,
    read: () => readEndpoint(id),
    save: saveEndpoint,
    onDone,
    withoutSecrets,
  });
  return (
    <EditForm edit={edit} label="Edit the endpoint" what="endpoint" onCancel={onDone}>
      <EndpointFields input={edit.input} set={edit.set} present={current.data} />
    </EditForm>
  );
}

async function saveEndpoint(input: EndpointInput, before: Endpoint, etag: string | null) {
  const { id, type } = before;
  const body = { ...bodyOf(input, before), ...(type !== "pull" && { url: input.url.trim() }) };
  return versioned(api.webhookEndpoints.update(id, body, ifMatch(etag)));
}

/** The secrets of an endpoint with their ends. Showing one and making another need a recent sign-in. */
function Secrets({ endpoint: { id, secrets = [] } }: { readonly endpoint: Endpoint }) {
  // A person who may write gives a recent sign-in where one is needed; the holder of a link cannot.
  const needed = useIsPortal() ? "account:security" : "webhooks:write";
  const mayWrite = useMay(needed);
  const [shown, setShown] = useState<string | null>(null);
  const reveal = async () => setShown((await api.webhookEndpoints.revealSecret(id)).secret);
  const rotate = async (seconds: number | null) =>
    (await api.webhookEndpoints.rotateSecret(id, { overlap_seconds: seconds ?? 0 })).secret;
  const hasPrevious = secrets.some(({ ends_at }) => ends_at !== null);
  return (
    <Panel
      title="Secrets"
      actions={
        mayWrite && (
          <>
            {shown === null ? (
              <Action label="Reveal" what="secret" run={reveal} />
            ) : (
              <Button label="Hide" onClick={() => setShown(null)} />
            )}
            <Rotate
              label="Rotate"
              what="secret"
              text="A new secret signs from now on. Until the overlap ends, deliveries carry the signatures of both, so you have time to update your receiver."
              rotate={rotate}
              onDone={setShown}
            />
            {hasPrevious && (
              <Action
                label="Revoke the previous secret"
                what="secret"
                kind="danger"
                confirm="Deliveries are signed with the newest secret alone from now on. A receiver that still has the previous one refuses them."
                run={() => api.webhookEndpoints.deletePreviousSecrets(id)}
              />
            )}
          </>
        )
      }
    >
      {shown !== null && (
        <p className={parts.row} role="status">
          <code>{shown}</code> <Copy text={shown}>Copy the secret</Copy>
        </p>
      )}
      <LiveSecrets secrets={secrets} since="Created" />
    </Panel>
  );
}
