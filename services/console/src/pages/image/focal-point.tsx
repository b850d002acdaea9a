import type { Image } from "@signalbox/client";
import type { KeyboardEvent, PointerEvent } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Content, parametersOf, useContent } from "../../parts/content.tsx";
import parts from "../../parts/parts.module.css";
import { nameOf } from "../image-queries.ts";
import styles from "./image.module.css";
import { movedPoint, withinOne } from "./image-input.ts";

type Point = NonNullable<Image["focal_point"]>;

interface FocalPointProps {
  readonly image: Image;
  readonly point: Point | null;
  readonly move: (point: Point | null) => void;
}

const middle: Point = { x: 0.5, y: 0.5 };

/** The part of an image that crops keep in sight: set by a click on it, or moved with the arrow keys. */
export function FocalPoint({ image, point, move }: FocalPointProps) {
  const { data, error, refetch } = useContent(image.id, parametersOf(image.variants.medium ?? ""));
  const { x, y } = point ?? middle;
  const place = (event: PointerEvent) => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect();
    move({ x: withinOne((event.clientX - left) / width), y: withinOne((event.clientY - top) / height) });
  };
  const step = (event: KeyboardEvent) => {
    const moved = movedPoint({ x, y }, event.key, event.shiftKey);
    if (!moved) return;
    event.preventDefault();
    move(moved);
  };
  const percent = (value: number) => `${Math.round(value * 1000) / 10} %`;
  const where = `${percent(x)} from the left, ${percent(y)} from the top`;
  return (
    <div className={parts.page}>
      <strong>Focal point</strong>
      <p className={parts.quiet}>
        Crops keep it in view. Click the image, or focus the marker and use the arrow keys; Shift moves it further.
      </p>
      {error && <Failure error={error} what="preview" retry={() => void refetch()} />}
      <div className={styles.canvas} onPointerDown={place}>
        <Content blob={data} alt={nameOf(image)} className={styles.whole} />
        <button
          type="button"
          className={`${styles.mark} ${point ? "" : styles.unset}`}
          style={{ left: `${x * 100}%`, top: `${y * 100}%` }}
          aria-label={`Focal point, ${where}. Arrow keys move it.`}
          onKeyDown={step}
        />
      </div>
      <div className={parts.row}>
        <span role="status">{point ? where : "not set: crops keep the centre"}</span>
        {point && <Button label="Remove the focal point" onClick={() => move(null)} />}
      </div>
    </div>
  );
}
