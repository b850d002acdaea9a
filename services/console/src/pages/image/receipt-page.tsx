import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { api } from "../../session/api.ts";
import { bytesText } from "../image-queries.ts";

/** The receipt of a deletion: what was erased, and when. It is read again until the last byte is gone. */
export function ReceiptPage() {
  const { id } = useParams({ strict: false }) as { readonly id: string };
  const receipt = useQuery({
    queryKey: ["image-deletion", id],
    refetchInterval: ({ state }) => (state.data?.status === "erasing" ? 1_000 : false),
    queryFn: () => api.imageDeletions.get(id),
  });
  return (
    <OnePage
      title="Deletion receipt"
      actions={<Link to="/images">All images</Link>}
      query={receipt}
      what="receipt"
      path={`images/deletions/${id}`}
    >
      {({ status, sha256, deleted_at, erased_at, erased_bytes, erased_objects, kept }) => (
        <Panel title={status === "erased" ? "The image is erased" : "The image is being erased"}>
          <Pairs
            items={[
              [
                "Status",
                <span key="" role="status">
                  <Status tone={status === "erased" ? "good" : "wait"}>{status}</Status>
                </span>,
              ],
              ["Image", <Id key="" value={id} />],
              ["Deleted", <Time key="" at={deleted_at} />],
              ["Erased", erased_at ? <Time key="" at={erased_at} /> : "within a minute, usually at once"],
              [
                "Freed",
                erased_bytes === null ? "not known yet" : `${bytesText(erased_bytes)} in ${erased_objects} objects`,
              ],
              ["SHA-256 of the original", <Id key="" value={sha256} why={false} />],
            ]}
          />
          {kept && <p>The original was kept, as another image of your account has the same one.</p>}
          <p>Copies in other caches disappear when they expire.</p>
        </Panel>
      )}
    </OnePage>
  );
}
