import type { Sharp } from "sharp";
import { finished } from "./edit-pixels.ts";

/** Puts a margin of one colour around an image that is done otherwise. */
export async function padImage(image: Sharp, pad: number, background: string): Promise<Sharp> {
  return (await finished(image)).extend({ left: pad, top: pad, right: pad, bottom: pad, background });
}
