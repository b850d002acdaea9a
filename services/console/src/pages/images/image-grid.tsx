import { Link } from "@tanstack/react-router";
import { Button } from "../../parts/button.tsx";
import { Thumbnail } from "../../parts/content.tsx";
import { Copy, Id, Status, Time } from "../../parts/inline.tsx";
import parts from "../../parts/parts.module.css";
import { bytesText, type Image, imageTones, nameOf } from "../image-queries.ts";
import { ImageLink } from "../links.tsx";
import { chosenMax } from "./bulk-delete.tsx";
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
            label={isWhole ? "Choose none of this page" : "Choose all of this page"}
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
            aria-label={`Choose ${nameOf(image)}`}
            checked={isChosen}
            disabled={!isChosen && chosen.size >= chosenMax}
            onChange={toggle}
          />
        )}
        <ImageLink id={id}>{nameOf(image)}</ImageLink>
      </div>
      <div className={parts.row}>
        <Status tone={imageTones[status]}>{status}</Status>
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
