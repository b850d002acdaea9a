import type { ImageSigningKey } from "@signalbox/client";
import { useState } from "react";
import { LiveStatus } from "../../live/live-status.tsx";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { choice, moment } from "../../parts/lists.tsx";
import { Page, Panel } from "../../parts/page.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { LiveSecrets, type Overlap, Rotate } from "../../parts/secret.tsx";
import { api, useMay } from "../../session/api.ts";
import { imageChanges } from "../image-queries.ts";
import { BulkDelete, ImageGrid } from "./image-grid.tsx";
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
        read={(query) => api.images.list(query)}
        pageSize={24}
        // Where no subscription tells of it, an image still becomes ready on the page.
        everyMs={({ items }) => live.state !== "live" && items.some(({ status }) => status === "processing") && 3_000}
        filters={{
          text: "Title, file name or tag",
          tag: "Tag",
          status: choice("Status", ["processing", "ready", "failed"]),
          visibility: choice("Visibility", ["private", "public"]),
          created_after: moment("Added after"),
          created_before: moment("Added before"),
          sort: choice("Sort by", sorts, "newest first"),
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
  ["-updated_at", "recently changed first"],
  ["updated_at", "least recently changed first"],
  ["filename", "file name, A to Z"],
  ["-filename", "file name, Z to A"],
  ["-size_bytes", "largest first"],
  ["size_bytes", "smallest first"],
] as const;

const choices: readonly Overlap[] = [
  [null, "valid until they expire"],
  [86_400, "valid for a day at most"],
  [3_600, "valid for an hour at most"],
  [0, "invalid now: one leaked"],
];

const rotate = (seconds: number | null) =>
  api.imageSigningKeys.rotate(seconds === null ? {} : { overlap_seconds: seconds });

/** The key that signs the account's image URLs. It never leaves the deployment; a new one ends the URLs of old ones. */
function SigningKey() {
  const [made, setMade] = useState<ImageSigningKey | null>(null);
  return (
    <Panel
      title="Signing key"
      actions={
        <Rotate
          label="Rotate"
          what="signing key"
          text="New URLs are signed with a new key from now on. URLs signed with the key before the current one become invalid at once."
          field="Current URLs"
          choices={choices}
          initial={null}
          rotate={rotate}
          onDone={setMade}
        />
      }
    >
      <p>
        Everyone who has a signed URL sees its private image. Rotate the key to invalidate URLs that older keys signed.
      </p>
      {made && <LiveSecrets label="Signing keys" name="Key" secrets={made.secrets} since="Created" />}
    </Panel>
  );
}
