import { Link } from "@tanstack/react-router";
import { copied, Id, Time } from "../../parts/inline.tsx";
import { choice } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useReadAgain } from "../../parts/read-again.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { useMay } from "../../session/api.ts";
import {
  deadEvents,
  deadLetters,
  type Message,
  type MessageKind,
  parkedKeys,
  readMessages,
  runbookUrl,
} from "../operating.ts";
import { Unavailable } from "../operations/operations-panel.tsx";
import { Decide } from "./decide.tsx";

export const DeadLettersPage = () => <Messages kind={deadLetters} />;
export const DeadEventsPage = () => <Messages kind={deadEvents} />;
export const ParkedKeysPage = () => <Messages kind={parkedKeys} />;

const services = ["account", "images", "image-worker", "config", "webhook-ingest", "webhook-delivery"];

/** The messages of a kind that wait for a decision, the longest waiting first. */
function Messages({ kind }: { readonly kind: MessageKind }) {
  const { refetchInterval, control } = useReadAgain(10_000);
  const mayWrite = useMay("operations:write");
  return (
    <Page
      title={kind.title}
      actions={
        <>
          {control}
          <a href={runbookUrl(kind.runbook)}>Runbook</a>
        </>
      }
    >
      <p>{kind.about}</p>
      <ResourceList
        label={kind.title}
        noun={kind.what}
        path={`api/v1/operations/${kind.collection}`}
        read={(query) => readMessages(kind, query)}
        everyMs={refetchInterval}
        filters={{ service: choice("Service", services) }}
        above={({ unavailable }) => <Unavailable services={unavailable} />}
        empty={kind.none}
        columns={{
          Message: (message) => <Name kind={kind} message={message} />,
          Source: (message) => (
            <>
              {"consumer" in message ? message.consumer : message.service}
              <div className={parts.quiet}>{message.topic}</div>
            </>
          ),
          Reason: ({ reason }) => reason,
          Tries: (message) =>
            "messages" in message ? (
              <>
                {message.attempts} so far, next <Time at={message.next_at} />; {message.messages.toLocaleString()}{" "}
                messages waiting
              </>
            ) : "attempts" in message ? (
              message.attempts
            ) : (
              "–"
            ),
          Since: ({ since }) => <Time at={since} />,
          Decide:
            kind === parkedKeys &&
            mayWrite &&
            ((message: Message) => (
              <div className={parts.row}>
                <Decide kind={kind} action="again" message={message} />
                <Decide kind={kind} action="giveUp" message={message} />
              </div>
            )),
        }}
      />
    </Page>
  );
}

function Name({
  kind,
  message: { id, event_type, event_id, key },
}: {
  readonly kind: MessageKind;
  readonly message: Message;
}) {
  const name = event_type ?? "without a readable type";
  return (
    <>
      <Link to={`/operations/${kind.collection}/$id`} params={{ id }}>
        {name}
      </Link>
      <div className={parts.row}>
        <span className={parts.quiet}>key</span>
        {copied(key)}
      </div>
      {event_id && <Id value={event_id} />}
    </>
  );
}
