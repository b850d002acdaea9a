import type { Image } from "@signalbox/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Thumbnail } from "../../parts/content.tsx";
import { SelectField } from "../../parts/fields.tsx";
import { Copy, Status } from "../../parts/inline.tsx";
import { useFilters } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { useStore } from "../../session/store.ts";
import { audienceChoices, bytesText } from "../image-queries.ts";
import styles from "./images.module.css";
import {
  addUploads,
  cancelUpload,
  forgetUploads,
  retryUpload,
  type Upload,
  uploads as uploadsOfPage,
} from "./uploads.ts";

/** Takes files that are dropped, pasted or chosen, and shows each on its way to the address that one copies. */
export function UploadPanel() {
  const uploads = useStore(uploadsOfPage);
  const [{ new: visibility = "private" }, change] = useFilters();
  const picker = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null) => addUploads(files ?? [], visibility === "public" ? "public" : "private");
  const isOver = useFilesOfPage(take);
  useNewImages(uploads);
  const isEnded = ({ state: { kind } }: Upload) => kind !== "sending" && kind !== "waiting";
  return (
    <Panel title="Upload">
      <div className={`${styles.drop} ${isOver ? styles.over : ""}`}>
        <p>Drop images anywhere on this page, paste them, or</p>
        <Button label="Choose images" className="main" onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          accept="image/*"
          multiple
          hidden
          aria-label="Images to upload"
          onChange={({ target }) => {
            take(target.files);
            // The same file may be chosen again.
            target.value = "";
          }}
        />
        <SelectField
          label="Visibility of uploads"
          choices={audienceChoices}
          value={visibility}
          set={(chosen) => change({ new: chosen })}
        />
      </div>
      {uploads.length > 0 && (
        <>
          <ul className={styles.uploads} aria-label="Uploads">
            {uploads.map((upload) => (
              <UploadRow key={upload.id} upload={upload} />
            ))}
          </ul>
          {uploads.some(isEnded) && (
            <div>
              <Button label="Clear finished" className="plain" onClick={() => forgetUploads(isEnded)} />
            </div>
          )}
        </>
      )}
    </Panel>
  );
}

/** Takes files from the clipboard and from a drag over any part of the page; returns true while one is over it. */
function useFilesOfPage(take: (files: FileList | null) => void): boolean {
  const [isOver, setOver] = useState(false);
  const taking = useRef(take);
  taking.current = take;
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") ?? false;
    const drag = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      // Without this the browser would leave the page and show the file.
      event.preventDefault();
      setOver(true);
    };
    addEventListener("dragenter", drag, { signal });
    addEventListener("dragover", drag, { signal });
    addEventListener("dragleave", (event) => event.relatedTarget === null && setOver(false), { signal });
    addEventListener(
      "drop",
      (event) => {
        setOver(false);
        if (!hasFiles(event)) return;
        event.preventDefault();
        taking.current(event.dataTransfer?.files ?? null);
      },
      { signal },
    );
    addEventListener(
      "paste",
      ({ clipboardData }) => {
        // Cells of a spreadsheet come as a text, and as a picture of themselves.
        const isText = clipboardData?.types.includes("text/plain") ?? false;
        if (clipboardData && clipboardData.files.length > 0 && !isText) taking.current(clipboardData.files);
      },
      { signal },
    );
    return () => stop.abort();
  }, []);
  return isOver;
}

/** Reads the list again when a file has become an image, also where no subscription tells of it. */
function useNewImages(uploads: readonly Upload[]): void {
  const queries = useQueryClient();
  const done = uploads.filter(({ state }) => state.kind === "done").length;
  useEffect(() => {
    if (done > 0) void queries.invalidateQueries({ queryKey: ["images"] });
  }, [queries, done]);
}

function UploadRow({ upload }: { readonly upload: Upload }) {
  const { id, file, state } = upload;
  return (
    <li>
      <div className={parts.row}>
        <strong>{file.name}</strong>
        <span className={parts.quiet}>{bytesText(file.size)}</span>
      </div>
      {state.kind === "waiting" && <Status tone="wait">waiting</Status>}
      {state.kind === "sending" && <Progress name={file.name} sent={state.sentBytes} total={state.totalBytes} />}
      {state.kind === "cancelled" && <Status tone="off">cancelled</Status>}
      {state.kind === "failed" && <Failure error={state.error} what="image" />}
      {state.kind === "done" && <Done image={state.image} />}
      <div className={parts.row}>
        {(state.kind === "waiting" || state.kind === "sending") && (
          <Button label="Cancel" aria-label={`Cancel ${file.name}`} onClick={() => cancelUpload(id)} />
        )}
        {(state.kind === "failed" || state.kind === "cancelled") && (
          <>
            <Button label="Upload again" aria-label={`Upload again: ${file.name}`} onClick={() => retryUpload(id)} />
            <Button
              label="Remove"
              className="plain"
              aria-label={`Remove ${file.name} from this list`}
              onClick={() => forgetUploads((one) => one.id === id)}
            />
          </>
        )}
      </div>
    </li>
  );
}

function Progress({ name, sent, total }: { readonly name: string; readonly sent: number; readonly total: number }) {
  const isSent = sent >= total && total > 0;
  return (
    <div>
      <progress aria-label={`Upload of ${name}`} max={total || 1} value={sent} />
      <div className={parts.quiet}>
        {isSent ? "sent; checking the image …" : `${bytesText(sent)} of ${bytesText(total)}`}
      </div>
    </div>
  );
}

function Done({ image }: { readonly image: Image }) {
  const { id, url, visibility } = image;
  return (
    <div className={styles.done}>
      <Thumbnail image={image} alt="" />
      <div className={parts.page}>
        <span role="status">
          <Status tone="good">uploaded</Status>
        </span>
        <div className={parts.row}>
          {visibility === "public" ? (
            <Copy text={url} label={`Copy URL of ${image.filename}`}>
              Copy URL
            </Copy>
          ) : (
            <Link to="/images/$id" params={{ id }} hash="url">
              Sign a URL, as only your account can see it
            </Link>
          )}
          <Link to="/images/$id" params={{ id }} aria-label={`Open ${image.filename}`}>
            Open
          </Link>
        </div>
      </div>
    </div>
  );
}
