import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { LiveStatus } from "../../live/live-status.tsx";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Thumbnail } from "../../parts/content.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { api, useMay, versioned } from "../../session/api.ts";
import { bytesText, type Image, imageChanges, imageQuery, imageTones, nameOf } from "../image-queries.ts";
import { EditImage } from "./edit-image.tsx";
import styles from "./image.module.css";
import { UrlBuilder } from "./url-builder.tsx";

/** One image: what it is, its texts and focal point, and its address in any form. */
export function ImagePage() {
  const { id } = useParams({ strict: false }) as { readonly id: string };
  const image = useQuery(imageQuery(id));
  const mayWrite = useMay("images:write");
  const live = useLiveReads(imageChanges, "image");
  return (
    <OnePage
      title={image.data ? nameOf(image.data.data) : "Image"}
      actions={
        <>
          <LiveStatus live={live} />
          {mayWrite && image.data && <Actions image={image.data.data} />}
        </>
      }
      query={image}
      what="image"
      path={`images/${id}`}
    >
      {(current) => (
        <>
          <Facts image={current.data} />
          <UrlBuilder image={current.data} />
          {mayWrite && <EditImage key={id} current={current} />}
        </>
      )}
    </OnePage>
  );
}

function Actions({ image }: { readonly image: Image }) {
  const { id, status } = image;
  const navigate = useNavigate();
  const params = { path: { image_id: id } };
  return (
    <>
      {status === "failed" && (
        <Action
          label="Make the variants again"
          what="image"
          kind="main"
          run={() => versioned(api.POST("/images/{image_id}/reprocess", { params }))}
        />
      )}
      <Action
        label="Delete"
        what="image"
        name={nameOf(image)}
        kind="danger"
        confirm="The image and every form of it are gone at once, for everybody who has its URL. This cannot be undone."
        run={() => versioned(api.DELETE("/images/{image_id}", { params }))}
        onDone={() => void navigate({ to: "/images/deletions/$id", params: { id } })}
      />
    </>
  );
}

const audiences: Readonly<Record<Image["visibility"], string>> = {
  private: "private: your account, and people with a signed URL",
  public: "public: everyone who has the URL",
};

function Facts({ image }: { readonly image: Image }) {
  const { id, status, failure, filename, mime_type, width, height, size_bytes, animated, sha256 } = image;
  return (
    <Panel
      title="Image"
      actions={
        <>
          <Link to="/images">All images</Link>
          <Download image={image} />
        </>
      }
    >
      <div className={styles.facts}>
        <Thumbnail image={image} alt="Square crop around the focal point" />
        <Pairs
          items={[
            [
              "Status",
              <span key="" role="status">
                <Status tone={imageTones[status]}>{status}</Status>
              </span>,
            ],
            failure && [
              "Because",
              <span key="">
                {failure.code}, after {failure.attempts} attempts, <Time at={failure.at} />
              </span>,
            ],
            ["Id", <Id key="" value={id} />],
            ["File", filename],
            ["Original", `${width} × ${height}, ${mime_type}${animated ? ", animated" : ""}, ${bytesText(size_bytes)}`],
            ["Seen by", audiences[image.visibility]],
            ["SHA-256", <Id key="" value={sha256} why={false} />],
            ["Added", <Time key="" at={image.created_at} />],
            ["Changed", <Time key="" at={image.updated_at} />],
          ]}
        />
      </div>
    </Panel>
  );
}

/** Downloads the bytes as they were uploaded. */
function Download({ image: { id, filename } }: { readonly image: Image }) {
  const download = async () => {
    const params = { path: { image_id: id } };
    const { data } = await versioned(api.GET("/images/{image_id}/original", { params, parseAs: "blob" }));
    saveFile(data as unknown as Blob, filename);
  };
  return <Action label="Download the original" what="original" run={download} />;
}
