import { Answer } from "../../parts/answer.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { useList } from "../../parts/listing.tsx";
import { Curl, Pager, useFilters } from "../../parts/lists.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import { useReadAgain } from "../../parts/read-again.tsx";
import { api, dataOf } from "../../session/api.ts";

const pageSize = 25;

/** The messages of a parked key in the order in which they are handled: the first failed, and the others wait behind it. */
export function Queue({ id }: { readonly id: string }) {
  const [{ cursor }] = useFilters();
  const { refetchInterval, control } = useReadAgain(10_000);
  const queue = useList(
    ["parked queue", id, cursor],
    async () => {
      const query = { limit: pageSize, ...(cursor !== undefined && { cursor }) };
      return await dataOf(api.GET("/api/v1/operations/parked/{id}/messages", { params: { path: { id }, query } }));
    },
    { refetchInterval },
  );
  return (
    <Panel title="Queue" actions={control}>
      <Answer query={queue} what="queue">
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Queue"
              rows={items.map((message, at) => ({ ...message, isFirst: at === 0 && cursor === undefined }))}
              keyOf={(message) => message.id}
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
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={`api/v1/operations/parked/${encodeURIComponent(id)}/messages`} query={{ cursor }} />
    </Panel>
  );
}
