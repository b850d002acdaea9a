import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const archive = new URL("../assets/console.json.br", import.meta.url);
const readFiles = async (): Promise<Record<string, string>> =>
  JSON.parse(brotliDecompressSync(await readFile(archive)).toString()).files;

test("every address of the console is the same page, under a strict policy", async () => {
  for (const [path, assets] of [
    ["/console/", "assets/"],
    ["/console/webhooks/endpoints/whe_1?x=1", "../../assets/"],
  ] as const) {
    const answer = await fetch(gateway.url + path);
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:;/);
    assert.match(policy, /frame-ancestors 'none'.*require-trusted-types-for 'script'; trusted-types 'none'/);
    assert.doesNotMatch(policy, /unsafe|https?:/);
    assert.equal(answer.headers.get("cross-origin-opener-policy"), "same-origin-allow-popups");
    assert.equal(answer.headers.get("cache-control"), "no-cache");
    const [, script = ""] =
      /<script type="module" crossorigin src="([^"]+)"><\/script>/.exec(await answer.text()) ?? [];
    assert.ok(script.startsWith(assets), script);
    assert.equal((await fetch(new URL(script, gateway.url + path))).status, 200);
  }
  const bare = await fetch(`${gateway.url}/console`, { redirect: "manual" });
  assert.deepEqual([bare.status, bare.headers.get("location")], [308, "console/"]);
});

test("the portal and the end of a sign-in keep the opener of their window", async () => {
  for (const path of ["/console/callback?code=x", "/console/portal/"]) {
    const { headers } = await fetch(gateway.url + path);
    assert.equal(headers.get("cross-origin-opener-policy"), "unsafe-none", path);
  }
});

test("a file with a digest in its name is kept for a year, compressed", async () => {
  const name = Object.keys(await readFiles()).find((one) => /^assets\/index-.*\.js$/.test(one));
  const url = `${gateway.url}/console/${name}`;
  const answer = await fetch(url, { headers: { "accept-encoding": "br" } });
  assert.equal(answer.headers.get("cache-control"), "public, max-age=31536000, immutable");
  assert.equal(answer.headers.get("content-encoding"), "br");
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  const again = { "accept-encoding": "br", "if-none-match": answer.headers.get("etag") ?? "" };
  assert.equal((await fetch(url, { headers: again })).status, 304);
  const head = await fetch(url, { method: "HEAD", headers: { "accept-encoding": "identity" } });
  assert.deepEqual([head.status, head.headers.get("content-encoding")], [200, null]);
});

test("only files of the console are served, for reading alone", async () => {
  for (const name of ["none.js", "..%2Findex.html", "__proto__", "%2e%2e/index.html"])
    assert.notEqual(
      (await fetch(`${gateway.url}/console/assets/${name}`)).headers.get("content-type"),
      "text/javascript",
      name,
    );
  assert.equal((await fetch(`${gateway.url}/console/assets/__proto__`)).status, 404);
  const posted = await fetch(`${gateway.url}/console/`, { method: "POST" });
  assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
});

test("with console.enabled off there is no console", async () => {
  const off = await startGateway({ "console.enabled": false });
  const answer = await fetch(`${off.url}/console/`);
  await off.close();
  assert.equal(answer.status, 404);
  assert.match(await answer.text(), /This deployment has no console/);
});

test("the start has at most 135 KiB of compressed script, a page 20 KiB more, all files together 700,000 bytes", async () => {
  const files = await readFiles();
  const page = files["index.html"] ?? "";
  const scripts = Object.entries(files).filter(([name]) => name.endsWith(".js"));
  const sizes = scripts.map(([name, text]) => ({ name, isStart: page.includes(name), bytes: gzipSync(text).length }));
  const start = sizes.filter(({ isStart }) => isStart).reduce((sum, { bytes }) => sum + bytes, 0);
  assert.ok(start > 0 && start <= 135 * 1024, `the start has ${start} bytes`);
  const large = sizes.filter(({ isStart, bytes }) => !isStart && bytes > 20 * 1024);
  assert.deepEqual(large, []);
  const bytes = Object.values(files).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= 700_000, `the files have ${bytes} bytes`);
});

test("each package in the files is named with its copyright, its licence once", async () => {
  const licences = (await readFiles())["assets/licences.md"] ?? "";
  for (const name of ["react-dom", "@tanstack/react-router", "openapi-fetch"])
    assert.match(licences, new RegExp(`^- ${name} - [0-9.]+ \\(MIT\\), Copyright \\(c\\) .+$`, "m"));
  assert.equal(licences.match(/THE SOFTWARE IS PROVIDED "AS IS"/g)?.length, 1);
});
