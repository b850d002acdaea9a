import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { copied, Id, Time } from "../../parts/inline.tsx";
import { useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, Pager, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useReadAgain } from "../../parts/read-again.tsx";
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
import { Unavailable } from "../unavailable.tsx";
import { Decide } from "./decide.tsx";

export const DeadLettersPage = () => <Messages kind={deadLetters} />;
export const DeadEventsPage = () => <Messages kind={deadEvents} />;
export const ParkedKeysPage = () => <Messages kind={parkedKeys} />;

const services = ["account", "images", "image-worker", "config", "webhook-ingest", "webhook-delivery"];

/** The messages of a kind that wait for a decision, the longest waiting first. */
function Messages({ kind }: { readonly kind: MessageKind }) {
  const [search] = useFilters();
  const { refetchInterval, control } = useReadAgain(10_000);
  const messages = useList(["messages", kind.collection, search], () => readMessages(kind, { ...search, limit: 25 }), {
    refetchInterval,
  });
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
      <Filters>
        <ChoiceFilter name="service" label="Service" choices={services} />
      </Filters>
      <Answer query={messages} what={kind.title.toLowerCase()}>
        {({ items, next_cursor: next, unavailable }) => (
          <>
            <Unavailable services={unavailable} />
            {items.length === 0 ? <p className={parts.notice}>{kind.none}</p> : <List kind={kind} items={items} />}
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={`api/v1/operations/${kind.collection}`} query={search} />
    </Page>
  );
}

function List({ kind, items }: { readonly kind: MessageKind; readonly items: readonly Message[] }) {
  const mayWrite = useMay("operations:write");
  return (
    <Table
      label={kind.title}
      rows={items}
      keyOf={({ id }) => id}
      columns={{
        Message: (message) => <Name kind={kind} message={message} />,
        Of: (message) => (
          <>
            {"consumer" in message ? message.consumer : message.service}
            <div className={parts.quiet}>{message.topic}</div>
          </>
        ),
        Reason: ({ reason }) => reason,
        Tries: (message) =>
          "messages" in message ? (
            <>
              {message.attempts} so far, the next <Time at={message.next_at} />; {message.messages.toLocaleString()}{" "}
              messages wait
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
