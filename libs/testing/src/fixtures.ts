import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The images under `fixtures/images`; `make-images.py` there describes each one and creates it. */
export const fixtureNames = [
  "photo.jpg",
  "photo-rotated.jpg",
  "alpha.png",
  "animated.gif",
  "small.webp",
  "small.avif",
  "grey-limited.avif",
  "small.tiff",
  "drawing.svg",
  "header-only.heic",
  "phone.heic",
  "deep.heic",
  "truncated.jpg",
  "polyglot.jpg",
  "one-pixel.png",
  "bomb.png",
] as const;

export type FixtureName = (typeof fixtureNames)[number];

/** Returns the path of a fixture, for tools that take a path. */
function fixturePath(name: FixtureName): string {
  return join(import.meta.dirname, "../fixtures/images", name);
}

/** Reads the bytes of a fixture. */
export async function readFixture(name: FixtureName): Promise<Buffer> {
  return await readFile(fixturePath(name));
}
