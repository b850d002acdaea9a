import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { promisify } from "node:util";
import { asksForMore, licencePage, softwareBill } from "./licence-page.ts";

const run = promisify(execFile);
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-secrets-"));
  file = join(folder, ".env");
});
afterEach(() => rm(folder, { recursive: true }));

const script = join(import.meta.dirname, "make-secrets.mjs");
const makeSecrets = () => run(process.execPath, [script], { cwd: folder });
const read = () => readFile(file, "utf8");

test("a new file has secrets of its own, readable by its owner alone", async () => {
  await makeSecrets();
  const values = (await read()).trim().split("\n");
  assert.equal(new Set(values.map((line) => line.slice(line.indexOf("=")))).size, values.length);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("a complete file stays unchanged, to the byte", async () => {
  await makeSecrets();
  const before = await read();
  await makeSecrets();
  assert.equal(await read(), before);
});

test("a file of an older version gets its missing secrets after the existing ones, which never change", async () => {
  const older = [
    "# our house",
    "POSTGRES_PASSWORD=rotated",
    "export MAIL_URL = smtps://mail.example.org",
    'SECRETS_KEYS="second:b2xk,first:b2xk"',
    "BASE_URL=https://api.example.org", // and no line feed at the end
  ].join("\n");
  await writeFile(file, older);
  const { stderr } = await makeSecrets();
  const text = await read();
  assert.ok(text.startsWith(`${older}\n`));
  const added = text.slice(older.length + 1);
  for (const name of ["POSTGRES_PASSWORD", "MAIL_URL", "SECRETS_KEYS"])
    assert.doesNotMatch(added, new RegExp(`^${name}=`, "m"));
  for (const name of ["EXPORTER_KAFKA_PASSWORD", "REDIS_PASSWORD"]) {
    assert.match(added, new RegExp(`^${name}=[0-9a-f]{48}$`, "m"));
    assert.match(stderr, new RegExp(`\\b${name}\\b`), "it reports what it added");
  }
});

test("a name that only starts like another one, or is commented out, is missing", async () => {
  await writeFile(file, "REDIS_PASSWORD_OLD=a\n#S3_SECRET_KEY=b\n");
  await makeSecrets();
  assert.match(await read(), /^REDIS_PASSWORD=.*\n(?:.*\n)*?S3_SECRET_KEY=/m);
});

test("a job of the image writes them into the folder that it is given", async () => {
  const image = join(import.meta.dirname, "../..");
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  await run("infra/docker/run-service.sh", ["make-secrets", folder], { cwd: image, env });
  assert.match(await read(), /^POSTGRES_PASSWORD=[0-9a-f]{48}\n/);
});

test("redirected to the file, as on pages of an older version, it creates the same file", async () => {
  await run("sh", ["-c", `"${process.execPath}" "${script}" > .env`], { cwd: folder });
  assert.match(await read(), /^POSTGRES_PASSWORD=[0-9a-f]{48}\n/);
});

const plain = {
  name: "express",
  version: "5.3.0",
  licence: "MIT",
  integrity: "sha512-/wA=",
  text: "Permission is hereby granted",
};
const special = {
  name: "@apollo/gateway",
  version: "2.14.4",
  licence: "Elastic-2.0",
  integrity: "sha512-AP8=",
  text: null,
};

test("the licence page has every text, licences with further conditions first", () => {
  const page = licencePage([plain, special]);
  const [before = "", after = ""] = page.split("All of them:");
  assert.match(before, /@apollo\/gateway \| 2\.14\.4 \| Elastic-2\.0/);
  assert.doesNotMatch(before, /express/);
  assert.match(after, /express \| 5\.3\.0 \| MIT[\s\S]*Permission is hereby granted/);
});

test("one plain licence of a choice is enough; a combination needs all to be plain", () => {
  for (const licence of ["MIT", "(MIT OR GPL-3.0-only)", "MIT and ISC", "(MIT AND Zlib)"]) {
    assert.equal(asksForMore(licence), false, licence);
  }
  for (const licence of ["Elastic-2.0", "MIT AND GPL-3.0-only", "LGPL-3.0-or-later", "unknown"]) {
    assert.equal(asksForMore(licence), true, licence);
  }
});

test("the bill of materials names each package as the tools look it up", () => {
  const { metadata, components } = JSON.parse(softwareBill([special, plain], { version: "1.2.3", node: "24.1.0" }));
  assert.deepEqual([metadata.component.name, metadata.component.version], ["signalbox", "1.2.3"]);
  const [runtime, gateway] = components;
  assert.equal(runtime.purl, "pkg:generic/node@24.1.0");
  assert.equal(gateway.purl, "pkg:npm/%40apollo/gateway@2.14.4");
  assert.deepEqual(gateway.hashes, [{ alg: "SHA-512", content: "00ff" }], "the sum that the lock file holds");
});
