import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Answer } from "../../parts/answer.tsx";
import { Time } from "../../parts/inline.tsx";
import { Curl, Pager, useFilters } from "../../parts/lists.tsx";
import { Page, Table } from "../../parts/page.tsx";
import { api, versioned } from "../../session/api.ts";

const path = "api/v1/webhooks/bookmarks";

/** The received webhooks that are kept under a name, past their retention. */
export function BookmarksPage() {
  const [{ cursor }] = useFilters();
  const bookmarks = useQuery({
    queryKey: ["bookmarks", cursor],
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const query = { limit: 25, ...(cursor !== undefined && { cursor }) };
      return (await versioned(api.GET(`/${path}`, { params: { query } }))).data;
    },
  });
  return (
    <Page title="Kept under a name" actions={<Link to="/webhooks/received">Received</Link>}>
      <Answer
        query={bookmarks}
        what="bookmarks"
        isEmpty={({ items }) => items.length === 0}
        empty={<p>Nothing is kept under a name yet. The page of a received webhook has a button for it.</p>}
      >
        {({ items, next_cursor: next }) => (
          <>
            <Table
              label="Kept webhooks"
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: "Name",
                  cell: ({ name }) => (
                    <Link to="/webhooks/bookmarks/$name" params={{ name }}>
                      {name}
                    </Link>
                  ),
                },
                { name: "Type", cell: ({ event_type }) => event_type ?? "without a type" },
                {
                  name: "Source",
                  cell: ({ source_id: id }) => (
                    <Link to="/webhooks/sources/$id" params={{ id }}>
                      <code>{id}</code>
                    </Link>
                  ),
                },
                { name: "Bytes", cell: ({ body_bytes }) => body_bytes.toLocaleString() },
                { name: "Received", cell: ({ received_at }) => <Time at={received_at} /> },
              ]}
            />
            <Pager next={next} />
          </>
        )}
      </Answer>
      <Curl path={path} query={{ cursor }} />
    </Page>
  );
}
