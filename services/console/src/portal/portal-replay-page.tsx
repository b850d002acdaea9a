import { useQuery } from "@tanstack/react-query";
import { type Replay, Replays } from "../pages/replays/replays-page.tsx";
import { StartReplay } from "../pages/replays/start-replay.tsx";
import { Answer } from "../parts/answer.tsx";
import { useFilters } from "../parts/lists.tsx";
import { Page, Panel } from "../parts/page.tsx";
import { api, useMay, versioned } from "../session/api.ts";

/** Sends deliveries of an endpoint again, and shows how far that is. The address has the replay. */
export function PortalReplayPage() {
  const [{ replay }, change] = useFilters();
  const mayWrite = useMay("webhooks:write");
  return (
    <Page title="Send again">
      {mayWrite ? (
        <StartReplay onStarted={({ id }) => change({ replay: id })} />
      ) : (
        <p>This link only shows. Ask for one that may send again.</p>
      )}
      {replay && <Progress id={replay} />}
    </Page>
  );
}

function Progress({ id }: { readonly id: string }) {
  const replay = useQuery({
    queryKey: ["replay", id],
    refetchInterval: ({ state }) => (state.data?.status === "running" ? 1_000 : false),
    queryFn: async (): Promise<Replay> =>
      (await versioned(api.GET("/api/v1/webhooks/replays/{id}", { params: { path: { id } } }))).data,
  });
  return (
    <Panel title="This replay">
      <Answer query={replay} what="replay">
        {(found) => <Replays items={[found]} mayWrite />}
      </Answer>
    </Panel>
  );
}
