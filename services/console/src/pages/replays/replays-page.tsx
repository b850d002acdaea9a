import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time, type Tone } from "../../parts/inline.tsx";
import { Curl, Pager, useFilters } from "../../parts/lists.tsx";
import { Page, Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, useMay, versioned } from "../../session/api.ts";
import { StartReplay } from "./start-replay.tsx";

const path = "api/v1/webhooks/replays";

const readReplays = async (cursor: string | undefined) =>
  (await versioned(api.GET(`/${path}`, { params: { query: { limit: 20, ...(cursor !== undefined && { cursor }) } } })))
    .data;

type Replay = Awaited<ReturnType<typeof readReplays>>["items"][number];

/** Replays: what was sent again, how far each is, and a new one. */
export function ReplaysPage() {
  const [{ cursor }] = useFilters();
  const mayWrite = useMay("webhooks:write");
  const replays = useQuery({
    queryKey: ["replays", cursor],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === "running") ? 1_000 : false),
    queryFn: () => readReplays(cursor),
  });
  return (
    <Page title="Replays">
      {mayWrite && <StartReplay />}
      <Panel title="Replays so far">
        <Answer
          query={replays}
          what="replays"
          isEmpty={({ items }) => items.length === 0}
          empty={<p>Nothing was replayed yet. A replay sends what an endpoint missed, after an outage for example.</p>}
        >
          {({ items, next_cursor: next }) => (
            <>
              <Replays items={items} mayWrite={mayWrite} />
              <Pager next={next} />
            </>
          )}
        </Answer>
      </Panel>
      <Curl path={path} query={{ cursor }} />
    </Page>
  );
}

const tones: Readonly<Record<Replay["status"], Tone>> = { running: "wait", done: "good", cancelled: "off" };

function Replays({ items, mayWrite }: { readonly items: readonly Replay[]; readonly mayWrite: boolean }) {
  return (
    <Table
      label="Replays"
      rows={items}
      keyOf={({ id }) => id}
      columns={[
        { name: "Replay", cell: ({ id }) => <Id value={id} /> },
        { name: "Status", cell: ({ status }) => <Status tone={tones[status]}>{status}</Status> },
        { name: "Progress", cell: (replay) => <Progress replay={replay} /> },
        {
          name: "Endpoint",
          cell: ({ endpoint_id: id }) => (
            <Link to="/webhooks/endpoints/$id" params={{ id }}>
              <code>{id}</code>
            </Link>
          ),
        },
        {
          name: "Of",
          cell: ({ from, to, statuses }) => (
            <>
              {statuses.join(", ")}, from <Time at={from} /> to <Time at={to} />
            </>
          ),
        },
        {
          name: "Started",
          cell: ({ id, status, created_at }) => (
            <div className={parts.row}>
              <Time at={created_at} />
              {mayWrite && status === "running" && <Cancel id={id} />}
            </div>
          ),
        },
      ]}
    />
  );
}

function Progress({ replay: { replayed, total } }: { readonly replay: Replay }) {
  return (
    <span className={parts.status}>
      <progress max={Math.max(1, total)} value={replayed} aria-label={`${replayed} of ${total}`} />
      {`${replayed} of ${total}`}
    </span>
  );
}

function Cancel({ id }: { readonly id: string }) {
  return (
    <Action
      label="Cancel the replay"
      dismiss="Let it go on"
      what="replay"
      kind="danger"
      confirm="What was sent again already stays sent. The rest is left as it is."
      run={() => versioned(api.POST("/api/v1/webhooks/replays/{id}/cancel", { params: { path: { id } } }))}
    />
  );
}
