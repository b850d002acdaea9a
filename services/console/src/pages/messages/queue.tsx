import { Id, Status, Time } from "../../parts/inline.tsx";
import { Panel } from "../../parts/page.tsx";
import { useReadAgain } from "../../parts/read-again.tsx";
import { type ListQuery, ResourceList } from "../../parts/resource-list.tsx";
import { api, dataOf } from "../../session/api.ts";

async function readQueue(id: string, query: ListQuery) {
  const params = { path: { id }, query };
  const { items, ...page } = await dataOf(api.GET("/api/v1/operations/parked/{id}/messages", { params }));
  return { ...page, items: items.map((message, at) => ({ ...message, isFirst: at === 0 && !query.cursor })) };
}

/** The messages of a parked key in the order in which they are handled: the first failed, and the others wait behind it. */
export function Queue({ id }: { readonly id: string }) {
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
