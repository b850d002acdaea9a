import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { createReceiver, openBrowser, type Receiver, readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

let site: Receiver;
let images: Harness;
let photo: Buffer;
before(async () => {
  site = await createReceiver();
  images = await startImages({ "images.cors.origins": new URL(site.url).origin });
  photo = await readFixture("photo.jpg");
});
after(async () => {
  await images.close();
  await site.close();
});

test("the code of the how-to page uploads from another origin through a broken connection", async (t) => {
  const page = await readFile(new URL("../../../docs/how-to/upload-from-a-browser.md", import.meta.url), "utf8");
  const [, code = ""] = /```ts\n([\s\S]*?)```/.exec(page) ?? [];
  site.answer({ headers: { "content-type": "text/html" }, body: "<!doctype html><title>Upload</title>" });
  const who = testPerson();
  const browser = await openBrowser();
  t.after(() => browser.close());
  const tab = await browser.newPage();
  await tab.goto(site.url);
  const parts = { api: images.url, authorization: who.headers.authorization, base64: photo.toString("base64") };
  const made = await tab.evaluate(
    `(async ({ api, authorization, base64 }) => {
      let isBroken = false;
      // The service does not know on which port the test serves it. The first piece breaks off half-way.
      const fetch = async (url, options) => {
        const here = api + new URL(url).pathname;
        if (options.method !== "PATCH" || isBroken) return globalThis.fetch(here, options);
        isBroken = true;
        await globalThis.fetch(here, { ...options, body: options.body.slice(0, 100_000) });
        throw new TypeError("Failed to fetch");
      };
      ${code}
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      return uploadImage(api, authorization, new File([bytes], "hills.jpg", { type: "image/jpeg" }), { title: "Hills" });
    })(${JSON.stringify(parts)})`,
  );
  const { sha256, title, filename } = made as Record<string, string>;
  assert.deepEqual([sha256, title, filename], [createHash("sha256").update(photo).digest("hex"), "Hills", "hills.jpg"]);
});
