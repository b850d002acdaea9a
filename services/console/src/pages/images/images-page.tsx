import { useState } from "react";
import { LiveStatus } from "../../live/live-status.tsx";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Answer } from "../../parts/answer.tsx";
import { useList } from "../../parts/listing.tsx";
import { ChoiceFilter, Curl, Filters, Pager, TextFilter, TimeFilter, useFilters } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { api, dataOf, useMay } from "../../session/api.ts";
import { imageChanges } from "../image-queries.ts";
import { BulkDelete } from "./bulk-delete.tsx";
import { ImageGrid } from "./image-grid.tsx";
import { SigningKey } from "./signing-key.tsx";
import { UploadPanel } from "./upload-panel.tsx";

/** The images of the account: uploaded, found, chosen, deleted. */
export function ImagesPage() {
  const [{ new: _new, ...search }] = useFilters();
  const mayWrite = useMay("images:write");
  const live = useLiveReads(imageChanges, "images");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const query = { ...search, limit: 24 };
  const images = useList(["images", query], () => dataOf(api.GET("/images", { params: { query: query as object } })), {
    // Where no subscription tells of it, an image still becomes ready on the page.
    refetchInterval: ({ state }) =>
      live.state !== "live" && state.data?.items.some(({ status }) => status === "processing") ? 3_000 : false,
  });
  return (
    <Page title="Images" actions={<LiveStatus live={live} />}>
      {mayWrite && <UploadPanel />}
      <Filters>
        <TextFilter name="text" label="Title, file name or tag" />
        <TextFilter name="tag" label="Tag" />
        <ChoiceFilter name="status" label="Status" choices={["processing", "ready", "failed"]} />
        <ChoiceFilter name="visibility" label="Visibility" choices={["private", "public"]} />
        <TimeFilter name="created_after" label="Added after" />
        <TimeFilter name="created_before" label="Added before" />
        <ChoiceFilter name="sort" label="Order" any="newest first" choices={sorts} />
      </Filters>
      <Answer
        query={images}
        what="images"
        empty={<NoImages isFiltered={Object.keys(search).length > 0} mayWrite={mayWrite} />}
      >
        {({ items, next_cursor: next }) => (
          <>
            <ImageGrid images={items} chosen={chosen} choose={mayWrite ? setChosen : null} />
            <Pager next={next} />
          </>
        )}
      </Answer>
      {mayWrite && <BulkDelete chosen={chosen} clear={() => setChosen(new Set())} />}
      <Curl path="images" query={search} />
      {mayWrite && <SigningKey />}
    </Page>
  );
}

const sorts = [
  ["created_at", "oldest first"],
  ["-updated_at", "changed last first"],
  ["updated_at", "changed longest ago first"],
  ["filename", "file name, A to Z"],
  ["-filename", "file name, Z to A"],
  ["-size_bytes", "largest first"],
  ["size_bytes", "smallest first"],
] as const;

function NoImages({ isFiltered, mayWrite }: { readonly isFiltered: boolean; readonly mayWrite: boolean }) {
  if (isFiltered) return <p>No image matches these filters.</p>;
  return <p>There is no image yet.{mayWrite && " Drop one anywhere on this page."}</p>;
}
