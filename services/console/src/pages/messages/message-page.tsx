import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { Code, Copy, Id, Time } from "../../parts/inline.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, useMay, versioned } from "../../session/api.ts";
import { useLinkOf } from "../configuration.ts";
import { headerLines, traceUrl } from "../header-lines.ts";
import { deadEvents, deadLetters, type MessageKind, runbookUrl } from "../operating.ts";
import { Decide } from "./decide.tsx";

const readLetter = async (id: string) =>
  (await versioned(api.GET("/api/v1/operations/dead-letters/{id}", { params: { path: { id } } }))).data;

const readEvent = async (id: string) =>
  (await versioned(api.GET("/api/v1/operations/dead-events/{id}", { params: { path: { id } } }))).data;

type Detail = Awaited<ReturnType<typeof readLetter>> | Awaited<ReturnType<typeof readEvent>>;

export const DeadLetterPage = () => <MessageWithBody kind={deadLetters} read={readLetter} />;
export const DeadEventPage = () => <MessageWithBody kind={deadEvents} read={readEvent} />;

interface WithBodyProps {
  readonly kind: MessageKind;
  readonly read: (id: string) => Promise<Detail>;
}

/** One message with its content, masked as the API masks it. Each read is an entry in the audit of the reader. */
function MessageWithBody({ kind, read }: WithBodyProps) {
  const { id = "" } = useParams({ strict: false });
  const mayWrite = useMay("operations:write");
  const [effect, setEffect] = useState<string | null>(null);
  const message = useQuery({
    queryKey: ["message", kind.collection, id],
    refetchOnWindowFocus: false,
    queryFn: () => read(id),
  });
  const trace = traceUrl(useLinkOf("trace"), message.data?.headers ?? {});
  const list = kind === deadLetters ? "/operations/dead-letters" : "/operations/dead-events";
  return (
    <Page
      title={kind.what === "dead letter" ? "Dead letter" : "Dead event"}
      actions={
        <>
          {mayWrite && message.data && effect === null && (
            <>
              <Decide kind={kind} action="again" message={message.data} onDone={setEffect} />
              <Decide kind={kind} action="giveUp" message={message.data} onDone={setEffect} />
            </>
          )}
          {trace !== null && <a href={trace}>Trace</a>}
          <a href={runbookUrl(kind.runbook)}>Runbook</a>
          <Link to={list}>All {kind.title.toLowerCase()}</Link>
        </>
      }
    >
      {effect !== null && (
        <p role="status" className={parts.notice}>
          {effect}
        </p>
      )}
      <Answer query={message} what={kind.what}>
        {(found) => (
          <>
            <Facts message={found} />
            <div className={parts.sides}>
              <Panel title="Headers">
                <Code text={headerLines(found.headers)} label="headers of the message" />
              </Panel>
              <Panel title="Content">
                <Code text={JSON.stringify(found.body)} label="content of the message" />
                <p className={parts.quiet}>
                  Texts that people or partners wrote are masked. This look is in your audit.
                </p>
              </Panel>
            </div>
          </>
        )}
      </Answer>
      <Curl path={`api/v1/operations/${kind.collection}/${encodeURIComponent(id)}`} />
    </Page>
  );
}

function Facts({ message }: { readonly message: Detail }) {
  const { id, event_type, event_id, service, topic, key, reason, since, bytes } = message;
  const copied = (text: string) => (
    <Copy text={text} label={`Copy ${text}`} className={parts.id}>
      {text}
    </Copy>
  );
  return (
    <Panel title={event_type ?? "Without a readable type"}>
      <Pairs
        items={[
          ["Reason", reason],
          ["Since", <Time key="" at={since} />],
          ...("consumer" in message
            ? [["Consumer", `${message.consumer}, after ${message.attempts} tries`] as const]
            : [["Service", service] as const]),
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
