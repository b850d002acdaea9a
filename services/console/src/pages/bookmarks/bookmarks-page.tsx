import { Link } from "@tanstack/react-router";
import { Time } from "../../parts/inline.tsx";
import { Listing, useList } from "../../parts/listing.tsx";
import { Curl, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { api, dataOf } from "../../session/api.ts";
import { SourceLink } from "../links.tsx";

const path = "api/v1/webhooks/bookmarks";

/** The received webhooks that are kept under a name, past their retention. */
export function BookmarksPage() {
  const [{ cursor }] = useFilters();
  const bookmarks = useList(["bookmarks", cursor], async () => {
    const query = { limit: 25, ...(cursor !== undefined && { cursor }) };
    return await dataOf(api.GET(`/${path}`, { params: { query } }));
  });
  return (
    <Page title="Kept under a name" actions={<Link to="/webhooks/received">Received</Link>}>
      <Listing
        query={bookmarks}
        what="bookmarks"
        empty="Nothing is kept under a name yet. The page of a received webhook has a button for it."
        label="Kept webhooks"
        columns={{
          Name: ({ name }) => (
            <Link to="/webhooks/bookmarks/$name" params={{ name }}>
              {name}
            </Link>
          ),
          Type: ({ event_type }) => event_type ?? "without a type",
          Source: ({ source_id: id }) => (
            <SourceLink id={id}>
              <code>{id}</code>
            </SourceLink>
          ),
          Bytes: ({ body_bytes }) => body_bytes.toLocaleString(),
          Received: ({ received_at }) => <Time at={received_at} />,
        }}
      />
      <Curl path={path} query={{ cursor }} />
    </Page>
  );
}
