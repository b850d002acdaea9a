import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bodyOfSpan, CountFirst, type ReplaySpan, SpanFields, useCountedReplay } from "../../parts/count-first.tsx";
import { Time } from "../../parts/inline.tsx";
import { Curl, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { ReplaysSoFar, replayPollMs } from "../../parts/replay-list.tsx";
import { api, useMay, versioned } from "../../session/api.ts";

const readReplays = async (id: string, cursor: string | undefined) => {
  const query = { limit: 20, ...(cursor !== undefined && { cursor }) };
  const params = { path: { id }, query };
  return (await versioned(api.GET("/api/v1/webhooks/sources/{id}/replays", { params }))).data;
};

/** Received webhooks that are published again, and a new replay of them. */
export function SourceReplaysPage() {
  const { id } = useParams({ from: "/webhooks/sources/$id/replays" });
  const [{ cursor }] = useFilters();
  const mayWrite = useMay("webhooks:write");
  const replays = useQuery({
    queryKey: ["source-replays", id, cursor],
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => replayPollMs(state.data?.items),
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
      <ReplaysSoFar
        replays={replays}
        empty="Nothing was published again yet. A replay brings back what your endpoints lost."
        done={({ published, missing }) => published + missing}
        note={({ missing }) => missing > 0 && `, ${missing} past the retention`}
        of={({ ids, event_types, from, to }) =>
          ids === null ? (
            <>
              {event_types?.join(", ") ?? "every type"}, from <Time at={from} /> to <Time at={to} />
            </>
          ) : (
            `${ids.length} chosen`
          )
        }
        kept="What was published again stays published."
        cancel={mayWrite ? ({ id: replayId }) => cancel(id, replayId) : undefined}
      />
      <Curl path={`api/v1/webhooks/sources/${id}/replays`} query={{ cursor }} />
    </Page>
  );
}

const cancel = (id: string, replay_id: string) =>
  versioned(
    api.POST("/api/v1/webhooks/sources/{id}/replays/{replay_id}/cancel", { params: { path: { id, replay_id } } }),
  );

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

async function send(id: string, span: ReplaySpan, isDryRun: boolean) {
  const body = { ...bodyOfSpan(span, isDryRun), rate: 100 };
  const params = { path: { id }, header: { "Idempotency-Key": crypto.randomUUID() } };
  return (await versioned(api.POST("/api/v1/webhooks/sources/{id}/replays", { params, body }))).data;
}
