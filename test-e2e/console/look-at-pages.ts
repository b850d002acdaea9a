import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/config";
import { accessibilityProblems } from "@signalbox/testing";
import sharp from "sharp";
import { tooWide } from "./console-pages.ts";
import type { Page } from "./console-person.ts";

/** The colours do not depend on the width, so each is looked at once. */
const looks = [
  [360, "dark"],
  [1280, "light"],
] as const;

/**
 * Asserts that what a page shows now is accessible in light and dark, at 360 and 1280 pixels, and not wider than its
 * screen, and leaves it wide. What has a name is pictured in the documents.
 */
export async function assertPresentable(page: Page, place: string, picture?: string): Promise<void> {
  // A pointer over a time shows it exactly, over what is below.
  await page.mouse.move(0, 0);
  for (const [width, colorScheme] of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const at = `${place} at ${width} in ${colorScheme}`;
    assert.deepEqual(await accessibilityProblems(page), [], at);
    assert.deepEqual(await tooWide(page), [], at);
  }
  if (picture !== undefined) await takePictures(page, picture);
}

const schemes = ["light", "dark"] as const;

/** Writes pictures into the documents, when that is asked for: each run would change them a little. */
export async function takePictures(page: Page, name: string, ...only: (typeof schemes)[number][]): Promise<void> {
  if (environment().CONSOLE_PICTURES !== "1") return;
  await page.evaluate("scrollTo(0, 0)");
  for (const colorScheme of only.length > 0 ? only : schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const path = fileURLToPath(new URL(`../../docs/console/${name}-${colorScheme}.png`, import.meta.url));
    // A page has few colours; without a palette the pictures would be the largest part of the repository.
    const picture = await sharp(await page.screenshot())
      .png({ palette: true, colours: 64, effort: 10 })
      .toBuffer();
    assert.ok(picture.length <= 60 * 1024, `${name} has ${picture.length} bytes`);
    await writeFile(path, picture);
  }
}
