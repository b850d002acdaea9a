import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accessibilityProblems, pressByKeyboard, reachByKeyboard, readFixture } from "@signalbox/testing";
import { watchPage } from "./console-pages.ts";
import { type ConsolePerson, type Page, startConsolePerson } from "./console-person.ts";
import { assertPresentable, examineStates, openPresentable } from "./look-at-pages.ts";

/** One person works through all tests, in their order: what one makes, the next looks at. */
let ada: ConsolePerson;
before(async () => {
  ada = await startConsolePerson();
});
after(() => ada.close());

const at = (path: string) => `${ada.baseUrl}/console/${path}`;
const photo = async (name: string) => ({ name, mimeType: "image/jpeg", buffer: await readFixture("photo.jpg") });
const hostile = `<img src=x onerror="window.hacked=1">${"long".repeat(30)}.jpg`;

/** Makes what a drag or a clipboard carries: a photo under each of these names. */
async function filesOf(page: Page, ...names: readonly string[]) {
  const bytes = (await readFixture("photo.jpg")).toString("base64");
  const files = names.map((name) => ({ name, bytes }));
  return page.evaluateHandle((list) => {
    const { DataTransfer, File, atob } = globalThis as unknown as Window;
    const carried = new DataTransfer();
    for (const { name, bytes } of list)
      carried.items.add(
        new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], name, { type: "image/jpeg" }),
      );
    return carried;
  }, files);
}

/** The members of a browser's window that are used in the page; the repository's own code knows no document. */
interface Window {
  readonly DataTransfer: new () => { readonly items: { add(file: object): void } };
  readonly File: new (parts: object[], name: string, options: { type: string }) => object;
  readonly atob: (text: string) => string;
}

const copied = (page: Page) => page.evaluate("navigator.clipboard.readText()") as Promise<string>;

/** Reads what everybody sees at an address, without a credential. */
async function typeAt(url: string): Promise<string | null> {
  const answer = await fetch(url);
  assert.equal(answer.status, 200, url);
  await answer.arrayBuffer();
  return answer.headers.get("content-type");
}

test("by mouse an editor copies the URL that everyone sees, three steps from the drop of an image", async () => {
  const { page } = ada;
  const problems = watchPage(page);
  await page.goto(at("images?new=public"));
  await page.getByText("There is no image yet. Drop one anywhere on this page.").waitFor();
  const dataTransfer = await filesOf(page, "harbour.jpg", hostile);
  await page.dispatchEvent("body", "dragenter", { dataTransfer });
  await page.dispatchEvent("body", "drop", { dataTransfer });
  await page.getByRole("list", { name: "Uploads" }).getByRole("button", { name: "Copy URL of harbour.jpg" }).click();
  assert.match(String(await typeAt(await copied(page))), /^image\//);
  // The list has both, and they become ready without a reload.
  const images = page.getByRole("list", { name: "Images" });
  await images.getByText("ready").nth(1).waitFor();
  assert.equal(await page.evaluate("window.hacked"), undefined);
  assert.deepEqual(problems, []);
});

test("by keyboard alone an editor chooses files, sets the focal point, builds a form and copies its URL", async () => {
  const { page } = ada;
  await page.goto(at("images?new=public"));
  const chooser = page.waitForEvent("filechooser");
  await pressByKeyboard(page, page.getByRole("button", { name: "Choose images" }));
  await (await chooser).setFiles(await photo("photo.jpg"));
  await pressByKeyboard(page, page.getByRole("link", { name: "Open photo.jpg" }));
  await pressByKeyboard(page, page.getByLabel("Title", { exact: true }), "Hills at noon");
  await reachByKeyboard(page, page.getByRole("button", { name: "Focal point, 50 % from the left" }));
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Shift+ArrowUp");
  await page.getByText("49 % from the left, 40 % from the top", { exact: true }).waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Save" }));
  await page.getByRole("heading", { name: "Hills at noon", level: 1 }).waitFor();
  await page.getByText("Saved.").waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "thumbnail", exact: true }));
  await page.getByText(/kB, image\/\w+, 200 × 200; the original has/).waitFor();
  await pressByKeyboard(page, page.getByRole("button", { name: "Copy URL", exact: true }));
  const url = await copied(page);
  assert.match(url, /width=200&height=200&fit=cover&v=/);
  assert.match(page.url(), /\?width=200&height=200&fit=cover$/, "the address of the page has the form");
  await typeAt(url);
});

test("a focal point set by a click is saved beside the title that somebody else saved meanwhile", async () => {
  const { page, context } = ada;
  const other = await context.newPage();
  await other.goto(page.url());
  const picture = page.getByRole("img", { name: "Hills at noon", exact: true });
  const box = await picture.boundingBox();
  assert.ok(box);
  await picture.click({ position: { x: box.width / 4, y: box.height / 4 } });
  await page.getByText(/^2\d(\.\d)? % from the left, 2\d(\.\d)? % from the top$/).waitFor();
  await page.getByText("Unsaved changes.").waitFor();
  await page.getByLabel("Title").focus();
  await other.getByLabel("Title").fill("theirs");
  await other.getByRole("button", { name: "Save" }).click();
  // It shows the other's change by itself, and keeps what was typed.
  await page.getByRole("heading", { name: "theirs", level: 1 }).waitFor();
  await page.getByText("Unsaved changes.").waitFor();
  assert.equal(await page.getByLabel("Title").evaluate((one) => one === one.ownerDocument.activeElement), true);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await page.getByText(/^2\d(\.\d)? % from the left, 2\d(\.\d)? % from the top$/).waitFor();
  assert.equal(await page.getByLabel("Title").inputValue(), "theirs");
  await page.getByLabel("Title").fill("Hills at noon");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Hills at noon", level: 1 }).waitFor();
  await other.close();
});

test("a private image is shown to its account, to others only by a signed URL in that form", async () => {
  const { page } = ada;
  await page.getByLabel("Visibility").selectOption("private");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The image is private").waitFor();
  await page.getByRole("button", { name: "Sign the URL" }).click();
  await page.getByRole("button", { name: "Copy signed URL" }).click();
  const url = await copied(page);
  await typeAt(url);
  assert.equal((await fetch(url.replace("width=200", "width=300"))).status, 403);
  await page.getByText(/kB, image\/\w+, 200 × 200/).waitFor();
  await assertPresentable(page, "a signed URL");
});

test("an upload can be pasted, stopped, or sent again without a second image after it broke off", async () => {
  const { page } = ada;
  await page.goto(at("images"));
  await page.getByRole("button", { name: "Choose images" }).waitFor();
  let held: (() => void) | undefined;
  await page.route(
    `${ada.baseUrl}/images`,
    (route) => new Promise<void>((resolve) => (held = resolve)).then(() => route.abort()),
    {
      times: 1,
    },
  );
  const paste = async (name: string) => {
    const clipboardData = await filesOf(page, name);
    await page.evaluate((data) => {
      const { ClipboardEvent, document } = globalThis as unknown as Pasting;
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
    }, clipboardData);
  };
  await paste("stopped.jpg");
  await page.getByRole("progressbar", { name: "Upload of stopped.jpg" }).waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.getByRole("button", { name: "Cancel stopped.jpg" }).click();
  await page.getByText("cancelled").waitFor();
  held?.();
  await page.getByRole("button", { name: "Remove stopped.jpg from this list" }).click();

  // The image is made, and its answer is lost.
  await page.route(
    `${ada.baseUrl}/images`,
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await paste("once.jpg");
  await page.getByText("No answer for image").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  // A token that has ended in the meantime is renewed, and the same file goes out again.
  const error = { code: "unauthorized", message: "The token has ended.", request_id: "r", doc_url: "/docs/errors" };
  const refuse = (route: Parameters<Parameters<Page["route"]>[1]>[0]) =>
    route.fulfill({ status: 401, json: { error } });
  await page.route(`${ada.baseUrl}/images`, refuse, { times: 1 });
  await page.getByRole("button", { name: "Upload again: once.jpg" }).click();
  await page.getByText("uploaded").waitFor();
  await page.getByLabel("Title, file name or tag").fill("once.jpg");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "once.jpg", exact: true }).waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "Select once.jpg" }).count(), 1);
  assert.match(page.url(), /text=once\.jpg/);
});

interface Pasting {
  readonly ClipboardEvent: new (type: string, options: object) => object;
  readonly document: { readonly body: { dispatchEvent(event: object): void } };
}

test("what is no image is refused in words; the list is found by text, status or order", async () => {
  const { page } = ada;
  await page.goto(at("images"));
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Choose images" }).click();
  await (await chooser).setFiles({ name: "note.jpg", mimeType: "image/jpeg", buffer: Buffer.from("no image at all") });
  await page.getByText("The request was refused").waitFor();
  await page.getByLabel("Status").selectOption("failed");
  await page.getByText("No image matches these filters.").waitFor();
  await page.getByLabel("Status").selectOption("");
  await page.getByLabel("Sort by").selectOption("file name, A to Z");
  await page.getByRole("link", { name: "harbour.jpg", exact: true }).waitFor();
  assert.match(page.url(), /images\?sort=filename$/);
});

test("a page that is paused or cut off says so until it goes live again, missing nothing", async () => {
  const { page, context } = ada;
  await page.route("**/graphql", (route) => route.abort());
  await page.goto(at("images"));
  await page.getByText("reconnecting").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await page.unroute("**/graphql");
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Pause updates" }).click();
  await page.getByText("paused", { exact: true }).waitFor();
  const other = await context.newPage();
  await other.goto(at("images?text=once.jpg"));
  await other.getByRole("link", { name: "once.jpg", exact: true }).click();
  await other.getByLabel("Title", { exact: true }).fill("Changed meanwhile");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByText("Saved.").waitFor();
  assert.equal(await page.getByRole("link", { name: "Changed meanwhile" }).count(), 0);
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("link", { name: "Changed meanwhile" }).waitFor();
  await other.getByLabel("Title", { exact: true }).fill("");
  await other.getByRole("button", { name: "Save" }).click();
  await page.getByRole("link", { name: "once.jpg", exact: true }).waitFor();
  await other.close();
});

test("pages of images say in words that they load, are empty, refused, gone or out of reach", async () => {
  const { page } = ada;
  const empty = ["There is no image yet.", { items: [], has_more: false }] as const;
  await examineStates(page, { url: at("images"), path: "/images", empty });
  await page.goto(at("images?text=once.jpg"));
  const href = await page.getByRole("link", { name: "once.jpg", exact: true }).getAttribute("href");
  const path = String(href).replace("/console", "");
  await examineStates(page, { url: at(path.slice(1)), path });
});

test("every page of images is accessible in all looks and fits its screen", async () => {
  const { page } = ada;
  const shown = async () => {
    await page.getByRole("list", { name: "Images" }).locator("img").nth(2).waitFor();
    await page.getByText("live", { exact: true }).waitFor();
  };
  await openPresentable(page, { url: at("images"), shown });
  await page.getByRole("checkbox", { name: "Select <img" }).check();
  await page.getByRole("button", { name: "Delete 1 image" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete 1 image" }).click();
  await page.getByRole("table", { name: "Deletion results" }).waitFor();
  await openPresentable(page, { url: at("images"), picture: "images", shown });
  await page.getByRole("link", { name: "Hills at noon" }).click();
  await page.getByRole("button", { name: "medium" }).click();
  await page.waitForURL(/width=960/);
  await openPresentable(page, {
    url: page.url(),

    shown: async () => {
      await page.getByText(/kB, image\/\w+, \d+ × \d+; the original has/).waitFor();
      await page.getByText("live", { exact: true }).waitFor();
    },
  });
});

test("chosen images are deleted together, with an outcome for each and a receipt of their erasure", async () => {
  const { page, context } = ada;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(at("images"));
  await reachByKeyboard(page, page.getByRole("checkbox", { name: "Select harbour.jpg" }));
  await page.keyboard.press("Space");
  await page.getByRole("checkbox", { name: "Select once.jpg" }).check();
  // Somebody else was faster with one of them.
  const other = await context.newPage();
  await page.route("**/images/delete", async (route) => {
    await other.goto(at("images?text=once.jpg"));
    await other.getByRole("link", { name: "once.jpg", exact: true }).click();
    await other.getByRole("button", { name: "Delete" }).click();
    await other.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
    await other.getByRole("heading", { name: "Deletion receipt" }).waitFor();
    await route.continue();
  });
  await page.getByRole("button", { name: "Delete 2 images" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete 2 images" }).click();
  const outcomes = page.getByRole("table", { name: "Deletion results" });
  await outcomes.getByText("already gone").waitFor();
  assert.deepEqual(await accessibilityProblems(page), []);
  await outcomes.getByRole("link", { name: "receipt" }).click();
  await page.getByText("The original was kept, as another image of your account has the same one.").waitFor();
  const shown = () => page.getByText("erased", { exact: true }).waitFor();
  await openPresentable(page, { url: page.url(), shown });
  await page.goto(at("images/img_none"));
  await page.getByText("Not found: image").waitFor();
  await other.close();
});

test("a new signing key is made after a choice for the URLs of the present one", async () => {
  const { page } = ada;
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(at("images"));
  await page.getByRole("button", { name: "Rotate" }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate" });
  await dialog.getByLabel("Current URLs").selectOption("3600");
  assert.deepEqual(await accessibilityProblems(page), []);
  await dialog.getByRole("button", { name: "Rotate" }).click();
  await page.getByRole("table", { name: "Signing keys" }).getByText("never").waitFor();
});
