import type { DeletedImages, Image } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Thumbnail } from "../../parts/content.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Copy, Id, Status, Time } from "../../parts/inline.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api } from "../../session/api.ts";
import { bytesText, nameOf } from "../image-queries.ts";
import { ImageLink, ReceiptLink } from "../links.tsx";
import styles from "./images.module.css";

interface GridProps {
  readonly images: readonly Image[];
  readonly chosen: ReadonlySet<string>;
  /** Null for a person who may only look. */
  readonly choose: ((chosen: ReadonlySet<string>) => void) | null;
}

/** Images side by side, each with a box to choose it by. */
export function ImageGrid({ images, chosen, choose }: GridProps) {
  const ids = images.map(({ id }) => id);
  const isWhole = ids.every((id) => chosen.has(id));
  return (
    <>
      {choose && (
        <div className={parts.row}>
          <Button
            label={isWhole ? "Deselect this page" : "Select this page"}
            onClick={() =>
              choose(
                isWhole
                  ? new Set([...chosen].filter((id) => !ids.includes(id)))
                  : new Set([...chosen, ...ids].slice(0, chosenMax)),
              )
            }
          />
        </div>
      )}
      <ul className={styles.grid} aria-label="Images">
        {images.map((image) => (
          <li key={image.id}>
            <Card image={image} chosen={chosen} choose={choose} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Card({ image, chosen, choose }: { readonly image: Image } & Omit<GridProps, "images">) {
  const { id, status, width, height, size_bytes, visibility, created_at, alt_text } = image;
  const isChosen = chosen.has(id);
  const toggle = () => choose?.(isChosen ? new Set([...chosen].filter((one) => one !== id)) : new Set([...chosen, id]));
  return (
    <>
      <Link to="/images/$id" params={{ id }} className={styles.picture as string} tabIndex={-1} aria-hidden="true">
        <Thumbnail image={image} alt={alt_text ?? ""} />
      </Link>
      <div className={styles.name}>
        {choose && (
          <input
            type="checkbox"
            aria-label={`Select ${nameOf(image)}`}
            checked={isChosen}
            disabled={!isChosen && chosen.size >= chosenMax}
            onChange={toggle}
          />
        )}
        <ImageLink id={id}>{nameOf(image)}</ImageLink>
      </div>
      <div className={parts.row}>
        <Status>{status}</Status>
        <span className={parts.quiet}>{visibility}</span>
      </div>
      <div className={parts.quiet}>
        {width} × {height}, {bytesText(size_bytes)}, <Time at={created_at} />
      </div>
      <Id value={id} />
      {visibility === "public" && (
        <div>
          <Copy text={image.url} label={`Copy URL of ${nameOf(image)}`}>
            Copy URL
          </Copy>
        </div>
      )}
    </>
  );
}

/** Images that are deleted together at most, as the API allows. */
const chosenMax = 100;

/** Deletes the chosen images together, and says of each what became of it. */
export function BulkDelete({ chosen, clear }: { readonly chosen: ReadonlySet<string>; readonly clear: () => void }) {
  const [outcomes, setOutcomes] = useState<DeletedImages["items"]>([]);
  const remove = async () => setOutcomes((await api.images.deleteMany({ ids: [...chosen] })).items);
  const images = chosen.size === 1 ? "image" : "images";
  return (
    <>
      {chosen.size > 0 && (
        <section className={`${parts.row} ${styles.chosen}`} aria-label="Selected images">
          <strong role="status">
            {chosen.size} {chosen.size === chosenMax ? `${images} selected, the maximum` : `${images} selected`}
          </strong>
          <Action
            label={`Delete ${chosen.size} ${images}`}
            what={images}
            kind="danger"
            confirm="The images and all their variants are gone at once, for everybody. This cannot be undone."
            run={remove}
            onDone={clear}
          />
          <Button label="Clear selection" onClick={clear} />
        </section>
      )}
      {outcomes.length > 0 && (
        <Panel
          title="Deletion results"
          actions={<Button label="Close" className="plain" onClick={() => setOutcomes([])} />}
        >
          <Table
            label="Deletion results"
            rows={outcomes}
            keyOf={({ id }) => id}
            columns={{
              Image: ({ id }) => <Id value={id} />,
              Outcome: ({ outcome }) => (
                <Status tone={outcome === "deleted" ? "good" : "off"}>
                  {outcome === "deleted" ? "deleted" : "already gone"}
                </Status>
              ),
              Receipt: ({ id, outcome }) =>
                outcome === "deleted" ? (
                  <ReceiptLink id={id}>receipt</ReceiptLink>
                ) : (
                  <span className={parts.quiet}>none</span>
                ),
            }}
          />
        </Panel>
      )}
    </>
  );
}
