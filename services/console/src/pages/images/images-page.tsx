import { useState } from "react";
import { LiveStatus } from "../../live/live-status.tsx";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { choice, moment } from "../../parts/lists.tsx";
import { Page } from "../../parts/page.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { api, dataOf, useMay } from "../../session/api.ts";
import { imageChanges, imageTones } from "../image-queries.ts";
import { BulkDelete } from "./bulk-delete.tsx";
import { ImageGrid } from "./image-grid.tsx";
import { SigningKey } from "./signing-key.tsx";
import { UploadPanel } from "./upload-panel.tsx";

/** The images of the account: uploaded, found, chosen, deleted. */
export function ImagesPage() {
  const mayWrite = useMay("images:write");
  const live = useLiveReads(imageChanges, "images");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  return (
    <Page title="Images" actions={<LiveStatus live={live} />}>
      {mayWrite && <UploadPanel />}
      <ResourceList
        label="Images"
        noun="image"
        path="images"
        read={(query) => dataOf(api.GET("/images", { params: { query } }))}
        pageSize={24}
        // Where no subscription tells of it, an image still becomes ready on the page.
        everyMs={({ items }) => live.state !== "live" && items.some(({ status }) => status === "processing") && 3_000}
        filters={{
          text: "Title, file name or tag",
          tag: "Tag",
          status: choice("Status", Object.keys(imageTones)),
          visibility: choice("Visibility", ["private", "public"]),
          created_after: moment("Added after"),
          created_before: moment("Added before"),
          sort: choice("Order", sorts, "newest first"),
        }}
        empty={`There is no image yet.${mayWrite ? " Drop one anywhere on this page." : ""}`}
        show={(images) => <ImageGrid images={images} chosen={chosen} choose={mayWrite ? setChosen : null} />}
      />
      {mayWrite && <BulkDelete chosen={chosen} clear={() => setChosen(new Set())} />}
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
