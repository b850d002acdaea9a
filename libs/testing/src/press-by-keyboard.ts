import type { Locator, Page } from "playwright-core";

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
