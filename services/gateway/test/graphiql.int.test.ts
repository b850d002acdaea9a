import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync } from "node:zlib";
import { type Harness, startGateway } from "./harness.ts";

let gateway: Harness;
before(async () => {
  gateway = await startGateway();
});
after(() => gateway.close());

const html = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };
const query = "query Locale { serverSettings { locale } }";

test("the files of the page are those of the packages", async () => {
  const assets = new URL("../assets/", import.meta.url);
  const packages: { name: string; files: Record<string, string> }[] = JSON.parse(
    await readFile(new URL("packages.json", assets), "utf8"),
  );
  for (const { name, files } of packages) {
    for (const [file, digest] of Object.entries(files)) {
      const bytes = brotliDecompressSync(await readFile(new URL(`${name}/${basename(file)}.br`, assets)));
      assert.equal(`sha256-${createHash("sha256").update(bytes).digest("base64")}`, digest, `${name}/${file}`);
    }
  }
});

test("who asks for no page gets none, and its files are no way to others", async () => {
  for (const accept of ["*/*", "application/json", "application/graphql-response+json, */*;q=0.5"]) {
    const { headers } = await gateway.get(query, { accept });
    assert.match(headers.get("content-type") ?? "", /json/, accept);
  }
  for (const name of ["package.json", "..%2Fpackage.json", "__proto__"])
    assert.equal((await fetch(`${gateway.url}/graphql/assets/${name}`)).status, 404, name);
});

test("with graphql.graphiql off a browser gets what everybody gets", async () => {
  const off = await startGateway({ "graphql.graphiql": false });
  const { status, body, headers } = await off.get(query, html);
  await off.close();
  assert.match(headers.get("content-type") ?? "", /^application\/json/);
  assert.deepEqual([status, body], [200, { data: { serverSettings: { locale: "en" } } }]);
});
