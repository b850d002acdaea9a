import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { readFixture, testPerson } from "@signalbox/testing";
import { type Harness, startImages } from "./harness.ts";

const run = promisify(execFile);

let images: Harness;
let page: string;
before(async () => {
  images = await startImages();
  page = await readFile(new URL("../../../docs/how-to/sign-image-urls.md", import.meta.url), "utf8");
});
after(() => images.close());

/** The program that prints the URL of arguments in JSON, by the code of each language. */
const languages: Readonly<Record<string, (code: string, given: string) => readonly [string, string[]]>> = {
  js: (code: string, given: string) => [
    process.execPath,
    ["--input-type=module", "--eval", `${code}\nconsole.log(signImageUrl(...${given}));`],
  ],
  python: (code: string, given: string) => [
    "python3",
    ["-c", `${code}\nimport json, sys\nprint(sign_image_url(*json.loads(sys.argv[1])))`, given],
  ],
};

for (const [language, commandOf] of Object.entries(languages)) {
  test(`a URL that the ${language} of the page on signing makes shows the image`, async () => {
    const who = testPerson({ scopes: ["images:read", "images:write"] });
    const { id } = (await images.upload(who, await readFixture("photo.jpg"))).body;
    const key = (await images.send(who, "POST", "/images/signing-keys")).body;
    const [, code = ""] = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page) ?? [];
    const expiry = Math.floor(images.context.clock.nowMs() / 1000) + 3_600;
    const parameters = { width: 60, format: "webp", crop: "10,20,300,200" };
    const [program, options] = commandOf(code, JSON.stringify(["", id, parameters, expiry, key]));
    const { stdout } = await run(program, options);
    const { status, headers } = await images.send(null, "GET", stdout.trim());
    assert.deepEqual([status, headers.get("content-type")], [200, "image/webp"]);
  });
}
