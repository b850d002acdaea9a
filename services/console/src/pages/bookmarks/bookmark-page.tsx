import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { Action } from "../../parts/dialog.tsx";
import { Id, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { api, useMay } from "../../session/api.ts";
import { SourceLink } from "../links.tsx";
import { Content } from "../received/content.tsx";

/** One webhook that is kept under a name, with its headers and bytes. */
export function BookmarkPage() {
  const { name } = useParams({ from: "/webhooks/bookmarks/$name" });
  const navigate = useNavigate();
  const mayWrite = useMay("webhooks:write");
  const bookmark = useQuery({ queryKey: ["bookmark", name], queryFn: () => api.webhookBookmarks.get(name) });
  return (
    <OnePage
      title={name}
      actions={
        <>
          {mayWrite && bookmark.data && (
            <Action
              label="Delete"
              what="bookmark"
              name={name}
              kind="danger"
              confirm="The copy is deleted. The received webhook stays until its retention ends."
              run={() => api.webhookBookmarks.delete(name)}
              onDone={() => void navigate({ to: "/webhooks/bookmarks" })}
            />
          )}
          <Link to="/webhooks/bookmarks">All bookmarks</Link>
        </>
      }
      query={bookmark}
      what="bookmark"
      path={`api/v1/webhooks/bookmarks/${name}`}
    >
      {({ id, event_type, delivery_id, source_id, received_id, received_at, created_at, headers }) => (
        <>
          <Panel title={event_type ?? "Without a type"}>
            <Pairs
              items={[
                ["Received", <Time key="" at={received_at} />],
                ["Bookmarked", <Time key="" at={created_at} />],
                ["Sender's id", delivery_id],
                ["Received webhook", <Id key="" value={received_id} />],
                ["Source", <SourceLink key="" id={source_id} />],
              ]}
            />
          </Panel>
          <Content headers={headers} bodyKey={id} readBody={() => api.webhookBookmarks.body(name)} />
        </>
      )}
    </OnePage>
  );
}
