import type { ConsumerGroup } from "@signalbox/client";
import { Status, type Tone } from "../../parts/inline.tsx";
import { Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import type { ReadAgain } from "../../parts/read-again.tsx";
import { durationText } from "../../parts/time-text.ts";
import { api } from "../../session/api.ts";
import { DeadEventsLink, ParkedLink } from "../links.tsx";
import { OperationsPanel } from "./operations-panel.tsx";

/** Beyond this an alert goes out. */
const lateSeconds = 300;

/** The consumer groups, the one that is furthest behind first. */
export const Groups = ({ refetchInterval }: ReadAgain) => (
  <OperationsPanel
    title="Consumer groups"
    what="groups"
    refetchInterval={refetchInterval}
    read={() => api.operations.operatingGroups()}
    empty="No consumer groups."
  >
    {({ items }) => (
      <Table
        label="Consumer groups"
        rows={items.toSorted((a, b) => b.seconds - a.seconds || b.messages - a.messages)}
        keyOf={({ group }) => group}
        columns={{
          Group: ({ group, service }) => (
            <>
              <code>{group}</code>
              <div className={parts.quiet}>{service}</div>
            </>
          ),
          Behind: (group) => <Lag group={group} />,
          "By topic": ({ topics }) => <Topics topics={topics} />,
          Members: ({ members }) => (
            <Status tone={members.length === 0 ? "failed" : "good"}>
              {members.length === 0 ? "none" : String(members.length)}
            </Status>
          ),
          Parked: ({ parked, service }) => <Parked parked={parked} service={service} />,
        }}
      />
    )}
  </OperationsPanel>
);

function Lag({ group: { messages, seconds } }: { readonly group: Pick<ConsumerGroup, "messages" | "seconds"> }) {
  const tone: Tone = seconds >= lateSeconds ? "failed" : messages > 0 ? "wait" : "good";
  return (
    <Status tone={tone}>
      {messages === 0 ? "not behind" : `${messages.toLocaleString()}, ${durationText(seconds * 1_000)}`}
    </Status>
  );
}

function Topics({ topics }: { readonly topics: ConsumerGroup["topics"] }) {
  const late = topics.filter(({ messages }) => messages > 0);
  if (late.length === 0) return "–";
  return late.map(({ topic, messages, seconds }) => (
    <div key={topic}>
      <code>{topic}</code> {messages.toLocaleString()}, {durationText(seconds * 1_000)}
    </div>
  ));
}

function Parked({ parked, service }: Pick<ConsumerGroup, "parked" | "service">) {
  if (parked === null || parked.messages === 0) return "–";
  return (
    <ParkedLink id={service}>
      {parked.messages.toLocaleString()}, the oldest {durationText(parked.oldest_seconds * 1_000)}
    </ParkedLink>
  );
}

/** The events of each service that wait to be published. */
export const Outboxes = ({ refetchInterval }: ReadAgain) => (
  <OperationsPanel
    title="Outboxes"
    what="outboxes"
    refetchInterval={refetchInterval}
    read={() => api.operations.operatingOutbox()}
  >
    {({ items }) => (
      <Table
        label="Outboxes"
        rows={items}
        keyOf={({ service }) => service}
        columns={{
          Service: ({ service }) => service,
          Waiting: ({ waiting, oldest_seconds }) => <Lag group={{ messages: waiting, seconds: oldest_seconds }} />,
          "Refused by the log": ({ service, dead }) =>
            dead === 0 ? "–" : <DeadEventsLink id={service}>{dead.toLocaleString()}</DeadEventsLink>,
        }}
      />
    )}
  </OperationsPanel>
);
