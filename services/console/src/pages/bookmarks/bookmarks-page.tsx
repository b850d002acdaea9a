import { Link } from "@tanstack/react-router";
import { Time } from "../../parts/inline.tsx";
import { Page } from "../../parts/page.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api } from "../../session/api.ts";
import { BookmarkLink, SourceLink } from "../links.tsx";

/** The received webhooks that are kept under a name, past their retention. */
export const BookmarksPage = () => (
  <Page title="Bookmarks" actions={<Link to="/webhooks/received">Received</Link>}>
    <ResourceList
      label="Bookmarks"
      noun="bookmark"
      path="api/v1/webhooks/bookmarks"
      read={(query) => api.webhookBookmarks.list(query)}
      empty="No bookmarks yet. Create one on the page of a received webhook."
      columns={{
        Name: ({ name }) => <BookmarkLink id={name}>{name}</BookmarkLink>,
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
  </Page>
);
