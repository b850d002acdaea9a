import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Code } from "../../parts/code.tsx";
import { memberText } from "../../parts/indent-json.ts";
import { copied, Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useReadAgain } from "../../parts/read-again.tsx";
import { type ListQuery, ResourceList } from "../../parts/resource-list.tsx";
import { api, asText, useMay, withText } from "../../session/api.ts";
import { useLinkOf } from "../configuration.ts";
import { headerLines, traceUrl } from "../header-lines.ts";
import { deadEvents, deadLetters, type Message, type MessageKind, parkedKeys, runbookUrl } from "../operating.ts";
import { Decide } from "./decide.tsx";

const readLetter = (id: string) =>
  withText(api.GET("/api/v1/operations/dead-letters/{id}", { params: { path: { id } }, ...asText }));

const readEvent = (id: string) =>
  withText(api.GET("/api/v1/operations/dead-events/{id}", { params: { path: { id } }, ...asText }));

const readParked = (id: string) =>
  withText(api.GET("/api/v1/operations/parked/{id}", { params: { path: { id } }, ...asText }));

type Read = Awaited<ReturnType<typeof readLetter | typeof readEvent | typeof readParked>>;
type Detail = Read["data"];

export const DeadLetterPage = () => <MessageWithBody kind={deadLetters} read={readLetter} />;
export const DeadEventPage = () => <MessageWithBody kind={deadEvents} read={readEvent} />;
export const ParkedKeyPage = () => <MessageWithBody kind={parkedKeys} read={readParked} />;

/** One message with its content, masked as the API masks it. Each read is an entry in the audit of the reader. */
function MessageWithBody({ kind, read }: { readonly kind: MessageKind; readonly read: (id: string) => Promise<Read> }) {
  const { id = "" } = useParams({ strict: false });
  const mayWrite = useMay("operations:write");
  const [effect, setEffect] = useState<string | null>(null);
  const message = useQuery({
    queryKey: ["message", kind.collection, id],
    refetchOnWindowFocus: false,
    queryFn: () => read(id),
  });
  const trace = traceUrl(useLinkOf("trace"), message.data?.data.headers ?? {});
  return (
    <OnePage
      title={`${kind.what[0]?.toUpperCase()}${kind.what.slice(1)}`}
      actions={
        <>
          {mayWrite && message.data && effect === null && (
            <>
              <Decide kind={kind} action="again" message={withoutContent(message.data.data)} onDone={setEffect} />
              <Decide kind={kind} action="giveUp" message={withoutContent(message.data.data)} onDone={setEffect} />
            </>
          )}
          {trace !== null && <a href={trace}>Trace</a>}
          <a href={runbookUrl(kind.runbook)}>Runbook</a>
          <Link to={`/operations/${kind.collection}`}>All {kind.title.toLowerCase()}</Link>
        </>
      }
      query={message}
      what={kind.what}
      path={`api/v1/operations/${kind.collection}/${encodeURIComponent(id)}`}
      lead={
        effect !== null && (
          <p role="status" className={parts.notice}>
            {effect}
          </p>
        )
      }
    >
      {({ data: found, text = "" }) => (
        <>
          <Facts message={found} />
          <div className={parts.sides}>
            <Panel title="Headers">
              <Code text={headerLines(found.headers)} label="headers of the message" />
            </Panel>
            <Panel title="Content">
              <Code text={memberText(text, "body") ?? ""} label="content of the message" />
              <p className={parts.quiet}>
                Texts that people or partners wrote are masked. This view is recorded in your audit.
              </p>
            </Panel>
          </div>
          {"next_at" in found && <Queue id={id} />}
        </>
      )}
    </OnePage>
  );
}

/** Both versions of a message that changed meanwhile show its facts; its content would fill the page. */
const withoutContent = ({ headers, body, ...message }: Detail): Message => message;

const triesText = (tries: number): string => (tries === 1 ? "1 try" : `${tries} tries`);

/** The API counts up to 10,000 messages of a key. */
const countedMax = 10_000;

function behindText(count: number): string {
  if (count === 0) return "no message";
  if (count >= countedMax - 1) return "10,000 messages or more";
  return count === 1 ? "1 message" : `${count.toLocaleString()} messages`;
}

function Facts({ message }: { readonly message: Detail }) {
  const { id, event_type, event_id, service, topic, key, reason, since, bytes } = message;
  return (
    <Panel title={event_type ?? "Without a readable type"}>
      <Pairs
        items={[
          ["Reason", reason],
          ["Since", <Time key="" at={since} />],
          ...("consumer" in message
            ? [["Consumer", `${message.consumer}, after ${triesText(message.attempts)}`] as const]
            : [["Service", service] as const]),
          ...("next_at" in message
            ? [
                ["Next try", <Time key="" at={message.next_at} />] as const,
                ["Waiting behind it", behindText(message.messages - 1)] as const,
              ]
            : []),
          ["Event", event_id ? <Id key="" value={event_id} /> : "none"],
          ["Key", copied(key)],
          [
            "Topic",
            "partition" in message ? `${topic}, partition ${message.partition}, offset ${message.offset}` : topic,
          ],
          ["Id", copied(id)],
          ["Size", `${bytes.toLocaleString()} bytes`],
        ]}
      />
    </Panel>
  );
}

async function readQueue(id: string, query: ListQuery) {
  const { items, ...page } = await api.parkedMessages.list(id, query);
  return { ...page, items: items.map((message, at) => ({ ...message, isFirst: at === 0 && !query.cursor })) };
}

/** The messages of a parked key in the order in which they are handled: the first failed, and the others wait behind it. */
function Queue({ id }: { readonly id: string }) {
  const { refetchInterval, control } = useReadAgain(10_000);
  return (
    <Panel title="Queue" actions={control}>
      <ResourceList
        label="Queue"
        noun="message"
        path={`api/v1/operations/parked/${encodeURIComponent(id)}/messages`}
        read={(query) => readQueue(id, query)}
        everyMs={refetchInterval}
        empty="No message waits."
        columns={{
          State: ({ isFirst }) => (
            <Status tone={isFirst ? "failed" : "wait"}>{isFirst ? "blocks the key" : "waits"}</Status>
          ),
          Event: ({ event_type, event_id }) => (
            <>
              {event_type ?? "without a readable type"}
              {event_id && <Id value={event_id} />}
            </>
          ),
          Tries: ({ attempts }) => attempts,
          Since: ({ since }) => <Time at={since} />,
          Place: ({ topic, partition, offset }) => `${topic}, partition ${partition}, offset ${offset}`,
          Size: ({ bytes }) => `${bytes.toLocaleString()} bytes`,
        }}
      />
    </Panel>
  );
}
