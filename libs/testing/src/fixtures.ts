import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The images under `fixtures/images`; `make-images.py` there says what each one is and how it was made. */
export const fixtureNames = [
  "photo.jpg",
  "photo-rotated.jpg",
  "alpha.png",
  "animated.gif",
  "small.webp",
  "small.avif",
  "small.tiff",
  "drawing.svg",
  "header-only.heic",
  "truncated.jpg",
  "polyglot.jpg",
  "one-pixel.png",
  "bomb.png",
] as const;

export type FixtureName = (typeof fixtureNames)[number];

/** The file of a fixture, for tools that take a path. */
function fixturePath(name: FixtureName): string {
  return join(import.meta.dirname, "../fixtures/images", name);
}

/** The bytes of a fixture. */
export async function readFixture(name: FixtureName): Promise<Buffer> {
  return await readFile(fixturePath(name));
}
