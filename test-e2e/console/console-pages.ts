import { eventually } from "@signalbox/testing";
import type { Page } from "./console-person.ts";

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
      "!/Loading |Checking your sign-in|Opening …|^…$/m.test(document.body.innerText) && !document.querySelector('[aria-label=\"Updates: connecting\"]')",
    ),
  );
}
