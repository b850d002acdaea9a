import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { environment } from "@signalbox/runtime";
import { accessibilityProblems } from "@signalbox/testing";
import sharp from "sharp";
import { tooWide } from "./console-pages.ts";
import type { Page } from "./console-person.ts";

/** Widths and colours in which each page is looked at; 320 pixels are 1280 at a zoom of 400 %. The last is wide. */
const looks = [
  [320, "light"],
  [360, "dark"],
  [360, "light"],
  [1280, "dark"],
  [1280, "light"],
] as const;

/**
 * Asserts that what a page shows now is accessible in light and dark, at 320, 360 and 1280 pixels, and not wider than
 * its screen, and leaves it wide. `picture` names the picture that a document shows.
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
  if (picture === undefined) return;
  await page.evaluate("scrollTo(0, 0)");
  await takePicture(page, picture);
}

/** Writes the picture of a page into the documents, when that is asked for: each run would change it a little. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (environment().CONSOLE_PICTURES !== "1") return;
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  // Photographs have more colours than a palette.
  const type = name === "images" ? "webp" : "png";
  const path = fileURLToPath(new URL(`../../docs/console/${name}-light.${type}`, import.meta.url));
  const screen = sharp(await page.screenshot());
  // A page has few colours; without a palette the pictures would be the largest part of the repository.
  const picture = await (type === "webp"
    ? screen.webp({ quality: 75 })
    : screen.png({ palette: true, colours: 64, effort: 10 })
  ).toBuffer();
  assert.ok(picture.length <= 60 * 1024, `${name} has ${picture.length} bytes`);
  await writeFile(path, picture);
}

interface ShownPage {
  readonly url: string;
  /** Waits until the page shows what it is looked at for. */
  readonly shown: () => Promise<unknown>;
  readonly picture?: string;
}

/** Opens a page, waits for what it shows, and asserts that this is presentable. */
export async function openPresentable(page: Page, { url, shown, picture }: ShownPage): Promise<void> {
  await page.goto(url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await shown();
  await assertPresentable(page, url, picture);
}

interface ExaminedStates {
  readonly url: string;
  /** Path of the request whose answer decides the state, below the address of the deployment. */
  readonly path: string;
  /** The text of the page that has nothing to show, and the answer for it. */
  readonly empty?: readonly [text: string, answer: object];
}

/**
 * Looks at a page while its data loads, and when they are empty, refused, gone, not readable or not to be had.
 * @throws AssertionError when axe finds something in one of these states
 */
export async function examineStates(page: Page, { url, path, empty }: ExaminedStates): Promise<void> {
  const { origin } = new URL(url);
  const asked = (request: URL) => request.origin === origin && request.pathname === path;
  const refusals = [
    [403, "Permission denied"],
    [404, "Not found"],
    [503, "Unavailable right now"],
  ] as const;
  const look = async (text: string, answer: Parameters<Page["route"]>[1]) => {
    await page.route(asked, answer);
    await page.goto(url);
    await page.getByText(text).first().waitFor();
    assert.deepEqual(await accessibilityProblems(page), [], `${url}: ${text}`);
    await page.unroute(asked);
  };
  const { promise: isLooked, resolve } = Promise.withResolvers<void>();
  await page.route(asked, async (route) => {
    await isLooked;
    await route.continue();
  });
  await page.goto(url);
  await page
    .getByText(/^Loading .* …$/)
    .first()
    .waitFor();
  assert.deepEqual(await accessibilityProblems(page), [], `${url}: loading`);
  resolve();
  await page
    .getByText(/^Loading .* …$/)
    .first()
    .waitFor({ state: "detached" });
  await page.unroute(asked);
  for (const [status, text] of refusals) {
    const error = { code: "forbidden", message: "This is refused.", request_id: "r", doc_url: "/docs/errors" };
    await look(text, (route) => route.fulfill({ status, json: { error } }));
  }
  await look("No answer for", (route) => route.abort());
  if (empty) await look(empty[0], (route) => route.fulfill({ json: empty[1] }));
}
