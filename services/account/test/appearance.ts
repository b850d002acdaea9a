import { accessibilityProblems, type openBrowser } from "@signalbox/testing";
import { contrastOf } from "../src/pages/page.ts";

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof openBrowser>>["newPage"]>>;

/** WCAG 2.2, non-text contrast and text contrast. */
const [ringContrastMin, ringPixelsMin, gapPixelsMin] = [3, 2, 8];

/**
 * Lists what makes a page hard to read or use, in light and in dark: violations of axe's rules, a focus ring that is
 * hardly visible, and buttons too close together for a finger.
 */
export async function appearanceProblems(page: Page): Promise<string[]> {
  const problems: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const found = [
      ...(await accessibilityProblems(page)),
      ...(await focusProblems(page)),
      ...(await crowdedButtons(page)),
    ];
    problems.push(...found.map((problem) => `${colorScheme}: ${problem}`));
  }
  await page.emulateMedia({ colorScheme: null });
  await page.evaluate("document.querySelector('[autofocus]')?.focus()");
  return problems;
}

interface Focused {
  /** True when the keyboard has left the last element. */
  readonly isPage: boolean;
  readonly name: string;
  readonly style: string;
  readonly width: number;
  readonly ring: string;
  readonly border: string;
  readonly page: string;
}

/** Reads the focused element of the page. */
const focused = `(() => {
  const element = document.activeElement;
  const own = getComputedStyle(element);
  return {
    isPage: element === document.body, name: element.id || element.textContent.trim(),
    style: own.outlineStyle, width: parseFloat(own.outlineWidth), ring: own.outlineColor,
    border: own.borderTopColor, page: getComputedStyle(document.body).backgroundColor,
  };
})()`;

const focusTop = "document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')";

async function focusProblems(page: Page): Promise<string[]> {
  const stops = await page.locator("button:visible, input:visible, a:visible").count();
  const problems: string[] = [];
  // From the top, because a Tab that leaves the page comes back to it only after the browser's own process has answered.
  await page.evaluate(focusTop);
  for (let seen = 0; seen < stops; seen++) {
    await page.keyboard.press("Tab");
    const stop = (await page.evaluate(focused)) as Focused;
    if (stop.isPage) return [...problems, "the keyboard does not reach everything"];
    const isSeen = stop.style === "solid" && stop.width >= ringPixelsMin;
    if (!isSeen || contrast(stop.ring, stop.page) < ringContrastMin) problems.push(`${stop.name}: no ring is seen`);
    if (contrast(stop.border, stop.page) < ringContrastMin) problems.push(`${stop.name}: its border is hardly seen`);
  }
  return problems;
}

function contrast(one: string, other: string): number {
  return contrastOf(hexOf(one), hexOf(other));
}

/** Converts `rgb(1, 2, 3)`, the computed form of colours. A partly transparent colour has no contrast of its own. */
function hexOf(color: string): string {
  const [, ...parts] = /^rgb\((\d+), (\d+), (\d+)\)$/.exec(color) ?? [];
  if (parts.length !== 3) throw new Error(`not an opaque colour: ${color}`);
  return `#${parts.map((part) => Number(part).toString(16).padStart(2, "0")).join("")}`;
}

async function crowdedButtons(page: Page): Promise<string[]> {
  const boxes = await Promise.all((await page.locator("button:visible").all()).map((button) => button.boundingBox()));
  const shown = boxes.filter((box) => box !== null);
  const pairs = shown.flatMap((one, at) => shown.slice(at + 1).map((other) => [one, other] as const));
  return pairs.flatMap(([one, other]) => {
    const beside = Math.max(one.x - (other.x + other.width), other.x - (one.x + one.width));
    const below = Math.max(one.y - (other.y + other.height), other.y - (one.y + one.height));
    const gap = Math.max(beside, below);
    return gap < gapPixelsMin ? [`two buttons are ${gap} pixels apart`] : [];
  });
}
