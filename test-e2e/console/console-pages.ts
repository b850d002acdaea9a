import { eventually } from "@signalbox/testing";
import type { Page } from "./console-person.ts";

type Locator = ReturnType<Page["locator"]>;

/** More stops than any page has. */
const tabsMax = 200;

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

/** Collects what a page must not do: errors, reports of its policy, and requests to another host. */
export function watchPage(page: Page): readonly string[] {
  const problems: string[] = [];
  const { origin } = new URL(page.url());
  page.on("pageerror", ({ message }) => problems.push(message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    if (![origin, `blob:${origin}`, "data:"].some((own) => request.url().startsWith(own)))
      problems.push(`asked ${request.url()}`);
  });
  return problems;
}

/** Lists what reaches beyond the right edge of the screen, unless it scrolls by itself. */
export async function tooWide(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const root = (globalThis as unknown as { document: { documentElement: Measured } }).document.documentElement;
    if (root.scrollWidth <= root.clientWidth) return [];
    const beyond = [...root.querySelectorAll("*")].filter(
      (one) => one.getBoundingClientRect().right > root.clientWidth,
    );
    return [`${root.scrollWidth} pixels`, ...beyond.map(({ outerHTML }) => outerHTML.slice(0, 200))];
  });
}

/** The part of an element that is read in the page; the repository's own code knows no document. */
interface Measured {
  readonly scrollWidth: number;
  readonly clientWidth: number;
  readonly outerHTML: string;
  querySelectorAll(selector: string): Iterable<Measured>;
  getBoundingClientRect(): { readonly right: number };
}

/** Waits until a page has read what it shows. Its subscription stays open, so the network is never idle. */
export async function settled(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1 }).waitFor();
  // Evaluated from outside: the policy of the page allows no text that becomes a script.
  await eventually(() =>
    page.evaluate<boolean>(
      "!/Loading |Looking for your sign-in|Opening …|^…$/m.test(document.body.innerText) && !document.querySelector('[aria-label=\"Updates: connecting\"]')",
    ),
  );
}
