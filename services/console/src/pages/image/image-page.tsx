import type { Image } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { LiveStatus } from "../../live/live-status.tsx";
import { useLiveReads } from "../../live/use-live-reads.ts";
import { Thumbnail } from "../../parts/content.tsx";
import { Action } from "../../parts/dialog.tsx";
import { EditForm, useEdit } from "../../parts/edit.tsx";
import { Fields, type FieldsData } from "../../parts/form.tsx";
import { Id, Status, Time } from "../../parts/inline.tsx";
import { OnePage, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { saveFile } from "../../parts/save-file.ts";
import { api, ifMatch, useMay, type Versioned, versioned } from "../../session/api.ts";
import { audienceChoices, bytesText, imageChanges, imageQuery, nameOf, readImage } from "../image-queries.ts";
import { FocalPoint } from "./focal-point.tsx";
import styles from "./image.module.css";
import { bodyOf, type ImageInput, inputOf } from "./image-input.ts";
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
  return (
    <>
      {status === "failed" && (
        <Action label="Recreate variants" what="image" kind="main" run={() => api.images.reprocess(id)} />
      )}
      <Action
        label="Delete"
        what="image"
        name={nameOf(image)}
        kind="danger"
        confirm="The image and all its variants are gone at once, for everybody who has its URL. This cannot be undone."
        run={() => api.images.delete(id)}
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
                <Status>{status}</Status>
              </span>,
            ],
            failure && [
              "Reason",
              <span key="">
                {failure.code}, after {failure.attempts} attempts, <Time at={failure.at} />
              </span>,
            ],
            ["Id", <Id key="" value={id} />],
            ["File", filename],
            ["Original", `${width} × ${height}, ${mime_type}${animated ? ", animated" : ""}, ${bytesText(size_bytes)}`],
            ["Visibility", audiences[image.visibility]],
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
  const download = async () => saveFile(await (await api.images.original(id)).blob(), filename);
  return <Action label="Download the original" what="original" run={download} />;
}

/** The texts of an image, its audience and its focal point, saved together. */
function EditImage({ current }: { readonly current: Versioned<Image> }) {
  const { id } = current.data;
  const { queryKey } = imageQuery(id);
  const edit = useEdit({ current, queryKey, inputOf, read: () => readImage(id), save });
  const { input, set } = edit;
  return (
    <EditForm edit={edit} label="Details and focal point" what="image">
      <h2>Details and focal point</h2>
      <div className={parts.sides}>
        <div className={parts.page}>
          <Fields input={input} set={set} fields={texts} />
        </div>
        <FocalPoint image={current.data} point={input.focalPoint} move={(focalPoint) => set({ focalPoint })} />
      </div>
    </EditForm>
  );
}

const texts: FieldsData<ImageInput> = {
  title: { label: "Title", isProse: true },
  altText: {
    label: "Alternative text",
    hint: "Describes the image for people who cannot see it.",
    rows: 3,
    isProse: true,
  },
  caption: { label: "Caption", rows: 2, isProse: true },
  tags: { label: "Tags", hint: "Separated by commas; 50 at most." },
  filename: { label: "File name", hint: "The name of the file when people save the image." },
  visibility: { label: "Visibility", choices: audienceChoices },
};

const save = (input: ImageInput, { id }: Image, etag: string | null) =>
  versioned(api.images.update(id, bodyOf(input), ifMatch(etag)));
