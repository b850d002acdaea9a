import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Bars, hoursOfDay } from "../../parts/bars.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EffectiveSettings } from "../../parts/effective-settings.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { durationText, shareText } from "../../parts/time-text.ts";
import { api, useIsPortal, useMay, type Versioned, versioned } from "../../session/api.ts";
import { dayQuery, type Endpoint, endpointQuery, endpointTones } from "../webhooks.ts";
import { EditEndpoint } from "./edit-endpoint.tsx";
import { Secrets } from "./secrets.tsx";
import { TestEvent } from "./test-event.tsx";
import { VerifyCode } from "./verify-code.tsx";

/** One endpoint: how it does, what it takes, its settings as they hold, its secrets, and a test. */
export function EndpointPage() {
  const { id } = useParams({ from: "/webhooks/endpoints/$id" });
  const endpoint = useQuery(endpointQuery(id));
  const [isEditing, setEditing] = useState(false);
  const mayWrite = useMay("webhooks:write");
  return (
    <Page
      title="Endpoint"
      actions={mayWrite && endpoint.data && <Actions endpoint={endpoint.data.data} onEdit={() => setEditing(true)} />}
    >
      <Answer query={endpoint} what="endpoint">
        {(current) => (
          <>
            {isEditing ? (
              <EditEndpoint current={current} onDone={() => setEditing(false)} />
            ) : (
              <State current={current} />
            )}
            {mayWrite && <TestEvent id={id} />}
            <Secrets endpoint={current.data} />
            <EffectiveSettings settings={current.data.effective_settings} origins={origins} />
            {current.data.type !== "pull" && <VerifyCode />}
          </>
        )}
      </Answer>
      <Curl path={`api/v1/webhooks/endpoints/${id}`} />
    </Page>
  );
}

function Actions({ endpoint: { id, status }, onEdit }: { readonly endpoint: Endpoint; readonly onEdit: () => void }) {
  const navigate = useNavigate();
  const isPortal = useIsPortal();
  const params = { path: { id } };
  return (
    <>
      <button type="button" onClick={onEdit}>
        Edit
      </button>
      {status === "enabled" && (
        <Action
          label="Pause"
          what="endpoint"
          confirm="Nothing is sent until you resume it. Events are kept and go out then."
          run={() => versioned(api.POST("/api/v1/webhooks/endpoints/{id}/pause", { params }))}
        />
      )}
      {status === "paused" && (
        <Action
          label="Resume"
          what="endpoint"
          kind="main"
          run={() => versioned(api.POST("/api/v1/webhooks/endpoints/{id}/resume", { params }))}
        />
      )}
      {status === "disabled" && (
        <Action
          label="Enable"
          what="endpoint"
          kind="main"
          run={() => versioned(api.POST("/api/v1/webhooks/endpoints/{id}/enable", { params }))}
        />
      )}
      {!isPortal && (
        <Action
          label="Delete"
          what="endpoint"
          kind="danger"
          confirm="Its deliveries that wait are dropped, and its secrets end. This cannot be undone."
          run={() => versioned(api.DELETE("/api/v1/webhooks/endpoints/{id}", { params }))}
          onDone={() => void navigate({ to: "/webhooks/endpoints" })}
        />
      )}
    </>
  );
}

function State({ current: { data: endpoint } }: { readonly current: Versioned<Endpoint> }) {
  const { id, url, type, status, disabled_reason, description, created_at, warnings, matches } = endpoint;
  const day = useQuery(dayQuery(id));
  return (
    <Panel
      title={type === "pull" ? "Pull endpoint" : url}
      actions={
        <Link to="/webhooks/deliveries" search={{ endpoint_id: id }}>
          Its deliveries
        </Link>
      }
    >
      {description && <p>{description}</p>}
      <Pairs
        items={[
          [
            "Status",
            <Status key="" tone={endpointTones[status]}>
              {status}
            </Status>,
          ],
          ...(disabled_reason ? [["Because", disabled_reason] as const] : []),
          ["Id", <Id key="" value={id} />],
          ["Added", <Time key="" at={created_at} />],
          ["Event types", matches.map(({ event_type, count }) => `${event_type} (${count} known)`).join(", ")],
        ]}
      />
      {warnings.map((warning) => (
        <p key={warning} className={parts.wait}>
          {warning}.
        </p>
      ))}
      <Answer query={day} what="statistics">
        {({ buckets, delivered, attempts, p95Ms, oldestDueAt }) => (
          <>
            <p>
              24 hours: {shareText(delivered, attempts)} of {attempts} delivered
              {p95Ms !== null && <>, 95 % within {durationText(p95Ms)}</>}
              {oldestDueAt && (
                <>
                  ; the oldest waiting was due <Time at={oldestDueAt} />
                </>
              )}
            </p>
            <Bars buckets={hoursOfDay(buckets)} label="Attempts by hour" height={40} />
          </>
        )}
      </Answer>
    </Panel>
  );
}

const origins = { endpoint: "its own", property: "of the service", default: "default" } as const;
