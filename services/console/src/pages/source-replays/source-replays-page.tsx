import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { CountFirst, type ReplaySpan, SpanFields, useCountedReplay } from "../../parts/count-first.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Copy, Status, Time, type Tone } from "../../parts/inline.tsx";
import { Curl, Pager, useFilters } from "../../parts/lists.tsx";
import { Page, Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, useMay, versioned } from "../../session/api.ts";

const readReplays = async (id: string, cursor: string | undefined) => {
  const query = { limit: 20, ...(cursor !== undefined && { cursor }) };
  const params = { path: { id }, query };
  return (await versioned(api.GET("/api/v1/webhooks/sources/{id}/replays", { params }))).data;
};

type Replay = Awaited<ReturnType<typeof readReplays>>["items"][number];

/** Received webhooks that are published again, and a new replay of them. */
export function SourceReplaysPage() {
  const { id } = useParams({ from: "/webhooks/sources/$id/replays" });
  const [{ cursor }] = useFilters();
  const mayWrite = useMay("webhooks:write");
  const replays = useQuery({
    queryKey: ["source-replays", id, cursor],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === "running") ? 1_000 : false),
    queryFn: () => readReplays(id, cursor),
  });
  return (
    <Page
      title="Publish received webhooks again"
      actions={
        <Link to="/webhooks/sources/$id" params={{ id }}>
          The source
        </Link>
      }
    >
      {mayWrite && <StartReplay id={id} />}
      <Panel title="Replays so far">
        <Answer
          query={replays}
          what="replays"
          isEmpty={({ items }) => items.length === 0}
          empty={<p>Nothing was published again yet. A replay brings back what your endpoints lost.</p>}
        >
          {({ items, next_cursor: next }) => (
            <>
              <Replays items={items} mayWrite={mayWrite} />
              <Pager next={next} />
            </>
          )}
        </Answer>
      </Panel>
      <Curl path={`api/v1/webhooks/sources/${id}/replays`} query={{ cursor }} />
    </Page>
  );
}

const tones: Readonly<Record<Replay["status"], Tone>> = { running: "wait", completed: "good", cancelled: "off" };

function Replays({ items, mayWrite }: { readonly items: readonly Replay[]; readonly mayWrite: boolean }) {
  return (
    <Table
      label="Replays"
      rows={items}
      keyOf={({ id }) => id}
      columns={[
        {
          name: "Replay",
          cell: ({ id }) => (
            <Copy text={id} label={`Copy ${id}`} className={parts.id}>
              {id}
            </Copy>
          ),
        },
        { name: "Status", cell: ({ status }) => <Status tone={tones[status]}>{status}</Status> },
        { name: "Progress", cell: (replay) => <Progress replay={replay} /> },
        {
          name: "Of",
          cell: ({ ids, event_types, from, to }) =>
            ids === null ? (
              <>
                {event_types?.join(", ") ?? "every type"}, from <Time at={from} /> to <Time at={to} />
              </>
            ) : (
              `${ids.length} chosen`
            ),
        },
        {
          name: "Started",
          cell: ({ id, source_id, status, created_at }) => (
            <div className={parts.row}>
              <Time at={created_at} />
              {mayWrite && status === "running" && (
                <Action
                  label="Cancel the replay"
                  dismiss="Let it go on"
                  what="replay"
                  kind="danger"
                  confirm="What was published again stays published. The rest is left as it is."
                  run={() =>
                    versioned(
                      api.POST("/api/v1/webhooks/sources/{id}/replays/{replay_id}/cancel", {
                        params: { path: { id: source_id, replay_id: id } },
                      }),
                    )
                  }
                />
              )}
            </div>
          ),
        },
      ]}
    />
  );
}

function Progress({ replay: { published, total, missing } }: { readonly replay: Replay }) {
  return (
    <>
      <span className={parts.status}>
        <progress max={Math.max(1, total)} value={published + missing} aria-label={`${published} of ${total}`} />
        {`${published} of ${total}`}
      </span>
      {missing > 0 && `, ${missing} past the retention`}
    </>
  );
}

/** Starts a replay, which is counted first. */
function StartReplay({ id }: { readonly id: string }) {
  const [asked, setAsked] = useState<ReplaySpan>({ hours: "24", types: "" });
  const replay = useCountedReplay((isDryRun) => send(id, asked, isDryRun));
  const set = (changed: Partial<ReplaySpan>) => {
    setAsked({ ...asked, ...changed });
    replay.reset();
  };
  return (
    <CountFirst title="Publish again" verb="Publish" replay={replay}>
      <p>Your endpoints get these webhooks as new events, each with the id of the one that it repeats.</p>
      <div className={parts.filters}>
        <SpanFields typesLabel="Types" span={asked} set={set} />
      </div>
    </CountFirst>
  );
}

async function send(id: string, { hours, types }: ReplaySpan, isDryRun: boolean) {
  const words = types.split(/[\s,]+/).filter((word) => word !== "");
  const body = {
    from: new Date(Date.now() - Number(hours) * 3_600_000).toISOString(),
    rate: 100,
    dry_run: isDryRun,
    ...(words.length > 0 && { event_types: words }),
  };
  const params = { path: { id }, header: { "Idempotency-Key": crypto.randomUUID() } };
  return (await versioned(api.POST("/api/v1/webhooks/sources/{id}/replays", { params, body }))).data;
}
