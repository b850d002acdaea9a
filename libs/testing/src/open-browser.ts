import { access, constants } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { environment } from "@signalbox/runtime";
import type { Browser, Locator, Page } from "playwright-core";

/** Program names in the packages of common systems. */
const programs = ["chromium", "chromium-browser", "google-chrome"];
/** More stops of the keyboard than any page has. */
const tabsMax = 200;
/** Stops requests to its maker's hosts at start; tests use this machine only. */
const quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic"];

/** Opens a headless Chromium of the machine, with a profile of its own. @throws Error that says how to install one. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = await findOnPath(programs);
  if (executablePath === null) throw new Error("chromium is not on PATH; install it with: apt-get install -y chromium");
  // As root, which build servers often are, Chromium cannot create its sandbox. The pages are our own.
  const chromiumSandbox = process.getuid?.() !== 0;
  // Loaded here because nearly every test imports this library, and few need a browser.
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath, chromiumSandbox, args: quiet });
}

/**
 * Lists the violations of axe's accessibility rules (WCAG 2.2 A and AA) on the page. A contrast that axe cannot
 * determine counts as too low.
 */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const { default: axe } = await import("axe-core");
  // Evaluated from outside, so that the page's Content-Security-Policy stays as strict as it is.
  await page.evaluate(axe.source);
  const { violations, incomplete } = await page.evaluate(() =>
    (globalThis as unknown as { axe: typeof import("axe-core") }).axe.run(),
  );
  const undetermined = incomplete.filter(({ id }) => id === "color-contrast");
  return [...violations, ...undetermined].map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(", ")})`,
  );
}

async function findOnPath(names: readonly string[]): Promise<string | null> {
  const folders = (environment().PATH ?? "").split(delimiter);
  for (const path of names.flatMap((name) => folders.map((folder) => join(folder, name)))) {
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs) return path;
  }
  return null;
}

/** Reaches a control with Tab alone and presses it, or types into it in place of what is there. @throws Error when no Tab leads there */
export async function pressByKeyboard(page: Page, target: Locator, text?: string): Promise<void> {
  await reachByKeyboard(page, target);
  if (text === undefined) return page.keyboard.press("Enter");
  await page.keyboard.press("ControlOrMeta+a");
  return page.keyboard.insertText(text);
}

/** Moves the focus to a control with Tab alone. @throws Error when no Tab leads there */
export async function reachByKeyboard(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let tabs = 0; tabs < tabsMax; tabs++) {
    if (await target.evaluate((element) => element === element.ownerDocument.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`The keyboard does not reach ${target}.`);
}
