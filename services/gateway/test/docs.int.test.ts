import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { detailCodes, errorCodes } from "@signalbox/core";
import { type Harness, startGateway } from "./harness.ts";

const pages: Readonly<Record<string, string>> = JSON.parse(
  await readFile(new URL("../src/generated/docs-pages.json", import.meta.url), "utf8"),
);
const assetsFolder = new URL("../assets/docs/", import.meta.url);
const siteBytesMax = 2_500_000;

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

test("only the pages and files are served, with their type and policy", async () => {
  for (const path of [
    "docs",
    "docs/how-to",
    "docs/errors",
    "docs/how-to/deploy",
    "docs/reference",
    "docs/api",
    "docs/events",
  ]) {
    const answer = await fetch(`${gateway.url}/${path}`);
    assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/html; charset=utf-8"], path);
    assert.equal(await answer.text(), pages[path]);
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|https?:/);
  }
  // GraphiQL's program and style import from this folder and are served below /graphql.
  for (const asset of (await readdir(assetsFolder)).filter((name) => !name.startsWith("start-graphiql"))) {
    assert.equal((await fetch(`${gateway.url}/docs/assets/${asset}`)).status, 200, asset);
  }
  for (const path of ["nothing", "how-to/nothing", "assets/..%2Fpackages.json", "__proto__", "assets/constructor"]) {
    const answer = await fetch(`${gateway.url}/docs/${path}`);
    const { error } = (await answer.json()) as { error: { code: string } };
    assert.deepEqual([answer.status, error.code], [404, "not_found"], path);
  }
});

test("every link of every page leads to a page, a place in it, or another document of the deployment", () => {
  const others = [
    "graphql",
    "openapi.json",
    "asyncapi.yaml",
    "schema.graphql",
    "favicon.ico",
    "docs/assets",
    "console",
  ];
  const broken = Object.entries(pages)
    .filter(([, text]) => text.startsWith("<!doctype"))
    .flatMap(([path, text]) =>
      [...text.matchAll(/ (?:href|src)="([^"]+)"/g)]
        .map(([, href = ""]) => href)
        .filter((href) => !/^(https?|mailto):/.test(href))
        .filter((href) => {
          const { pathname, hash } = new URL(href.replaceAll("&amp;", "&"), `http://docs/${path}`);
          const target = pathname.slice(1);
          if (others.some((other) => target === other || target.startsWith(`${other}/`))) return false;
          return (
            !(target in pages) || (hash !== "" && !pages[target]?.includes(`id="${decodeURIComponent(hash.slice(1))}"`))
          );
        })
        .map((href) => `${path}: ${href}`),
    );
  assert.deepEqual(broken, []);
});

test("the page of errors explains every code at its anchor", () => {
  for (const code of [...errorCodes, ...detailCodes]) {
    assert.ok(pages["docs/errors"]?.includes(`id="${code}"`), code);
  }
});

test("all pages and files together stay small", async () => {
  const names = await readdir(assetsFolder);
  const files = await Promise.all(names.map((name) => readFile(new URL(name, assetsFolder))));
  const bytes = [...Object.values(pages), ...files].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  assert.ok(bytes <= siteBytesMax, `${bytes} bytes`);
});

test("no page has a script or style of its own", () => {
  for (const [path, text] of Object.entries(pages)) {
    if (path !== "docs/search.json") assert.doesNotMatch(text, /<script>|<style|style="| on[a-z]+="/, path);
  }
});

test("pages are sent in gzip under their ETag", async () => {
  const first = await fetch(`${gateway.url}/docs/search.json`, { headers: { "accept-encoding": "gzip" } });
  assert.equal(first.headers.get("content-encoding"), "gzip");
  assert.match(first.headers.get("vary") ?? "", /Accept-Encoding/);
  assert.equal(await first.text(), pages["docs/search.json"]);
  const headers = { "accept-encoding": "gzip", "if-none-match": first.headers.get("etag") ?? "" };
  assert.equal((await fetch(`${gateway.url}/docs/search.json`, { headers })).status, 304);
});

test("the form with a slash leads to the one without, below any path", async () => {
  for (const [path, location] of [
    ["/docs/", "../docs"],
    ["/docs/errors/", "../errors"],
    ["/docs/how-to/deploy/", "../deploy"],
  ]) {
    const answer = await fetch(`${gateway.url}${path}`, { redirect: "manual" });
    assert.deepEqual([answer.status, answer.headers.get("location")], [308, location]);
  }
});

test("with docs.enabled off the error codes remain, because errors lead there", async (t) => {
  const off = await startGateway({ "docs.enabled": false });
  t.after(() => off.close());
  const statuses = await Promise.all(
    ["/docs", "/docs/api", "/docs/how-to/deploy", "/docs/errors", "/docs/assets/docs.css"].map(
      async (path) => (await fetch(`${off.url}${path}`)).status,
    ),
  );
  assert.deepEqual(statuses, [404, 404, 404, 200, 200]);
});
