import type { WebhookAttempt as Attempt } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { Code } from "../../parts/code.tsx";
import { Id, Moment, Status, Time, type Tone } from "../../parts/inline.tsx";
import { Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { durationText } from "../../parts/time-text.ts";
import { api } from "../../session/api.ts";
import type { Delivery } from "../webhooks.ts";
import styles from "./delivery.module.css";

async function readAttempts(deliveryId: string) {
  const { items } = await api.webhookAttempts.list({ delivery_id: deliveryId, limit: 50 });
  return items.toSorted((a, b) => a.started_at.localeCompare(b.started_at));
}

/** The attempts as a line of time, the first on top, ended by what comes next. */
export function Attempts({ delivery }: { readonly delivery: Delivery }) {
  const attempts = useQuery({
    // Another attempt is another key, so the list is read again when the delivery has moved on.
    queryKey: ["attempts", delivery.id, delivery.attempts],
    placeholderData: (before: Attempt[] | undefined) => before,
    queryFn: () => readAttempts(delivery.id),
  });
  return (
    <Panel title="Attempts">
      <Answer query={attempts} what="attempts" empty="No attempts yet.">
        {(items) => (
          <ol className={styles.timeline}>
            {items.map((attempt, at) => (
              <li key={attempt.id}>
                <OneAttempt
                  attempt={attempt}
                  before={items[at - 1]?.started_at}
                  body={delivery.event?.body ?? null}
                  isOpen={attempt === items.at(-1)}
                />
              </li>
            ))}
            <li>
              {delivery.next_attempt_at ? (
                <p>
                  The next attempt is due <Time at={delivery.next_attempt_at} />.
                </p>
              ) : (
                <p className={parts.quiet}>No further attempt is planned.</p>
              )}
            </li>
          </ol>
        )}
      </Answer>
    </Panel>
  );
}

const decisions: Readonly<Record<NonNullable<Attempt["decision"]>, { readonly tone: Tone; readonly text: string }>> = {
  succeeded: { tone: "good", text: "delivered" },
  retry: { tone: "wait", text: "failed, to be retried" },
  exhausted: { tone: "failed", text: "failed permanently" },
  gone: { tone: "failed", text: "410 Gone: the endpoint was disabled" },
  held: { tone: "wait", text: "held" },
};

interface AttemptProps {
  readonly attempt: Attempt;
  /** Start of the one before. */
  readonly before: string | undefined;
  /** The bytes that were sent; null when the event is not kept any more. */
  readonly body: string | null;
  readonly isOpen: boolean;
}

function OneAttempt({ attempt, before, body, isOpen }: AttemptProps) {
  const { number, started_at, duration_ms, status, error, phase, decision, next_attempt_at, id, counted } = attempt;
  const outcome = decisions[decision ?? (status !== null && status < 300 ? "succeeded" : "exhausted")];
  return (
    <details open={isOpen}>
      <summary>
        <strong>Attempt {number}</strong> <Status tone={outcome.tone}>{outcome.text}</Status>{" "}
        {status === null ? `${error ?? "no response"}${phase ? ` in phase ${phase}` : ""}` : `HTTP ${status}`}{" "}
        <span className={parts.quiet}>after {durationText(duration_ms)}</span>
      </summary>
      <div className={styles.attempt}>
        <Pairs
          items={[
            ["Attempt", <Id key="" value={id} />],
            ["Started", <Moment key="" at={started_at} after={before} />],
            ["Decision", decision ?? "none"],
            ["Counted", counted ? "yes" : "no, it does not use up a try"],
            ["Next attempt", next_attempt_at ? <Time key="" at={next_attempt_at} /> : "none"],
          ]}
        />
        {attempt.phases && <Phases phases={attempt.phases} />}
        <div className={parts.sides}>
          <div className={styles.side}>
            <h3>Request</h3>
            <Headers headers={attempt.request_headers} label={`request headers of attempt ${number}`} />
            {body === null ? (
              <p>The body is no longer stored.</p>
            ) : (
              <Code text={body} label={`request body of attempt ${number}`} />
            )}
          </div>
          <div className={styles.side}>
            <h3>Response</h3>
            <Headers headers={attempt.response_headers} label={`response headers of attempt ${number}`} />
            {attempt.response ? (
              <Code text={attempt.response} label={`response body of attempt ${number}`} />
            ) : (
              <p className={parts.quiet}>{status === null ? "No response." : "The response had no body."}</p>
            )}
          </div>
        </div>
      </div>
    </details>
  );
}

function Headers({ headers, label }: { readonly headers: Attempt["request_headers"]; readonly label: string }) {
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  return lines.length === 0 ? (
    <p className={parts.quiet}>No headers are stored.</p>
  ) : (
    <Code text={lines.join("\n")} label={label} />
  );
}

const phaseNames = {
  resolve: "resolve the host",
  connect: "connect",
  tls: "TLS",
  send: "send",
  first_byte: "wait for the response",
  body: "read the response",
} as const;

/** The time of an attempt by its phases, as one line of bars, each with its figure. */
function Phases({ phases }: { readonly phases: Readonly<Record<keyof typeof phaseNames, number | null>> }) {
  const shown = Object.entries(phaseNames).flatMap(([phase, name]) => {
    const ms = phases[phase as keyof typeof phaseNames];
    return ms === null ? [] : [{ name, ms }];
  });
  const longest = Math.max(1, ...shown.map(({ ms }) => ms));
  return (
    <dl className={styles.phases} aria-label="Phases">
      {shown.map(({ name, ms }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <meter min={0} max={longest} value={ms} aria-label={`${name}: ${durationText(ms)}`} /> {durationText(ms)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
