import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { serviceDoors } from "../generate/access/service-doors.ts";
import { packageProperties } from "../generate/package-properties.ts";
import { root } from "../generate/repository.ts";
import { fetchHelm, runHelm } from "../kubernetes/tools/helm.ts";
import { contractChanges } from "./contract-changes.ts";
import { packRelease } from "./pack-release.ts";
import { gitIn, lastRelease, makeRelease, prepareRelease } from "./release.ts";

const day = "2027-01-31";
const access = (...paths: string[]) =>
  paths.map((path) => `| \`GET ${path}\` | \`images:read\` | active |  |\n`).join("");
const properties = (...names: string[]) => names.map((name) => `| \`${name}\` | images | integer |\n`).join("");
const report = (...methods: string[]) =>
  [...methods.map((name) => `Resources.images.${name}(): Promise<Image>;\n`), "Image.title: string | null;\n"].join("");

/** A repository of its own with the files that a release reads. */
async function scratch(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-release-"));
  t.after(() => rm(folder, { recursive: true }));
  const git = gitIn(folder);
  git("init", "--quiet");
  git("config", "user.name", "Releaser");
  git("config", "user.email", "releaser@example.com");
  const commit = async (subject: string, files: Readonly<Record<string, string | null>>) => {
    for (const [path, text] of Object.entries(files)) {
      if (text === null) git("rm", "--quiet", path);
      else {
        await mkdir(dirname(join(folder, path)), { recursive: true });
        await writeFile(join(folder, path), text);
        git("add", path);
      }
    }
    git("commit", "--quiet", "--message", subject);
  };
  await commit("Begin", {
    "package.json": '{ "version": "1.0.0" }',
    "package-lock.json": '{ "version": "1.0.0", "packages": { "": { "version": "1.0.0" } } }',
    "k8s/chart/Chart.yaml": "name: signalbox\nversion: 1.0.0\nappVersion: 1.0.0\nkubeVersion: '>=1.30.0-0'\n",
    "k8s/overlays/production/kustomization.yaml":
      "images:\n  - { name: signalbox, newName: registry.example/signalbox, newTag: 1.0.0 }\n",
    "docs/reference/access.md": access("/images"),
    "libs/contracts/accepted/image.json": '{ "image.created.v1": {} }',
    "docs/reference/graphql-schema.graphql": "type Query { viewer: String images: String }",
    "docs/reference/properties.md": properties("images.max"),
    "libs/client/api-report.txt": report("get", "list"),
    "services/images/prisma/migrations/1_first/migration.sql": "-- signalbox: expand\nselect 1;",
  });
  return { folder, git, commit };
}

async function released(folder: string, version?: string) {
  const release = await prepareRelease({ folder, day, version });
  await makeRelease(folder, release);
  return release;
}

test("the first release is the version that the repository has, with a tag on the commit of its changelog", async (t) => {
  const { folder, git } = await scratch(t);
  const { version, since } = await released(folder);
  assert.deepEqual([version, since], ["1.0.0", null]);
  assert.equal(git("describe", "--tags"), "v1.0.0");
  assert.equal(git("log", "-1", "--format=%s"), "Release 1.0.0");
  assert.equal(git("status", "--porcelain"), "");
  assert.match(
    await readFile(join(folder, "CHANGELOG.md"), "utf8"),
    /^# Changelog\n\n## 1\.0\.0, 2027-01-31, commit \w+\n/,
  );
  await assert.rejects(() => prepareRelease({ folder, day, version: "patch" }), /Nothing was committed since v1\.0\.0/);
});

test("what was written for the version to come stands first in its section, above earlier versions", async (t) => {
  const { folder, git, commit } = await scratch(t);
  await commit("Write notes", { "CHANGELOG.md": "# Changelog\n\n## 1.0.0, unreleased\n\nThe first one.\n" });
  await released(folder);
  const first = git("rev-parse", "--short", "HEAD^");
  const changelog = () => readFile(join(folder, "CHANGELOG.md"), "utf8");
  assert.equal(await changelog(), `# Changelog\n\n## 1.0.0, 2027-01-31, commit ${first}\n\nThe first one.\n`);
  const next = (await changelog()).replace("## 1.0.0", "## 1.0.1, unreleased\n\nA repair.\n\n## 1.0.0");
  await commit("Repair it", { "services/images/src/rule.ts": "export {};", "CHANGELOG.md": next });
  await released(folder);
  assert.match(
    await changelog(),
    /^# Changelog\n\n## 1\.0\.1, 2027-01-31, commit \w+\n\nA repair\.\n\n### Commits\n[\s\S]*Repair it[\s\S]*\n\n## 1\.0\.0, 2027-01-31, commit \w+\n\nThe first one\.\n$/,
  );
});

test("in a clone without tags the release before is the commit that the changelog names", async (t) => {
  const { folder, git, commit } = await scratch(t);
  await released(folder);
  const revision = git("rev-parse", "--short", "HEAD^");
  git("tag", "--delete", "v1.0.0");
  assert.deepEqual(lastRelease(folder), { version: "1.0.0", revision });
  await commit("Repair it", { "services/images/src/rule.ts": "export {};" });
  const { version, section } = await prepareRelease({ folder, day });
  assert.equal(version, "1.0.1");
  assert.match(section, /Repair it/);
});

test("what is new for those who use it makes a minor version, and stands above the commits", async (t) => {
  const { folder, commit } = await scratch(t);
  await released(folder);
  await commit("Sign URLs of images", {
    "docs/reference/access.md": access("/images", "/images/signed-urls"),
    "libs/contracts/accepted/image.json": '{ "image.created.v1": {}, "image.erased.v1": {} }',
    "docs/reference/graphql-schema.graphql": "type Query { viewer: String images: String signedUrl: String }",
    "docs/reference/properties.md": properties("images.max", "images.signed"),
    "services/images/prisma/migrations/2_keys/migration.sql": "-- signalbox: expand\nselect 2;",
  });
  const { version, section } = await released(folder);
  assert.equal(version, "1.1.0");
  for (const told of [
    "image.erased.v1 is new",
    "GET /images/signed-urls is new",
    "Field 'signedUrl' was added to object type 'Query'",
    "images.signed is new",
    "services/images/prisma/migrations/2_keys/migration.sql (expand)",
    "Sign URLs of images",
  ]) {
    assert.ok(section.includes(told), `${told}:\n${section}`);
  }
  const changelog = await readFile(join(folder, "CHANGELOG.md"), "utf8");
  assert.ok(changelog.indexOf("## 1.1.0") < changelog.indexOf("## 1.0.0"), "the newest comes first");
  for (const name of ["package.json", "package-lock.json"]) {
    const file = JSON.parse(await readFile(join(folder, name), "utf8"));
    assert.deepEqual([file.version, file.packages?.[""].version ?? "1.1.0"], ["1.1.0", "1.1.0"]);
  }
  const chart = await readFile(join(folder, "k8s/chart/Chart.yaml"), "utf8");
  assert.equal(chart, "name: signalbox\nversion: 1.1.0\nappVersion: 1.1.0\nkubeVersion: '>=1.30.0-0'\n");
  const overlay = await readFile(join(folder, "k8s/overlays/production/kustomization.yaml"), "utf8");
  assert.match(overlay, /newTag: 1\.1\.0 \}/);
});

const breaks: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  "a route that is gone": { "docs/reference/access.md": access("/pictures") },
  "an event that is gone": { "libs/contracts/accepted/image.json": "{}" },
  "a field that is gone": { "docs/reference/graphql-schema.graphql": "type Query { viewer: String }" },
  "a method of the client that is gone": { "libs/client/api-report.txt": report("get") },
  "a member of an answer that is gone": {
    "libs/client/api-report.txt": report("get", "list").replace(/^Image\..*/m, ""),
  },
  "a property that is gone": { "docs/reference/properties.md": properties() },
  "a contraction": {
    "services/images/prisma/migrations/2_drop/migration.sql": "-- signalbox: contract\ndrop table x;",
  },
};
for (const [what, files] of Object.entries(breaks)) {
  test(`${what} makes a major version, and no smaller one is taken`, async (t) => {
    const { folder, commit } = await scratch(t);
    await released(folder);
    await commit("Break it", files);
    await assert.rejects(() => prepareRelease({ folder, day, version: "minor" }), /needs 2\.0\.0 at least/);
    const { version, section } = await prepareRelease({ folder, day });
    assert.equal(version, "2.0.0");
    assert.match(section, /\*\*Breaking:\*\*/);
  });
}

test("a repair alone makes a patch, and a larger step may be asked for", async (t) => {
  const { folder, commit } = await scratch(t);
  await released(folder);
  await commit("Repair it", { "services/images/src/rule.ts": "export {};" });
  assert.equal((await prepareRelease({ folder, day })).version, "1.0.1");
  const { version, section } = await prepareRelease({ folder, day, version: "minor" });
  assert.equal(version, "1.1.0");
  assert.match(section, /- \*\*images\*\*\n {2}- Repair it \([0-9a-f]+\)/);
});

test("the pages that a release compares name every route and property", async () => {
  const empty = { list: () => [], read: () => null };
  const pages = new Map<string, string>();
  for (const page of ["docs/reference/access.md", "docs/reference/properties.md"])
    pages.set(page, await readFile(join(root, page), "utf8"));
  const changes = await contractChanges(empty, { list: () => [], read: (path) => pages.get(path) ?? null });
  const added = (wanted: string) =>
    changes.filter(({ part }) => part === wanted).map(({ text }) => text.replace(" is new", ""));
  const routes = (await serviceDoors()).flatMap((service) => service.routes);
  assert.deepEqual(
    added("routes"),
    routes.map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`),
  );
  const services = (await packageProperties()).filter(({ kind }) => kind === "service");
  const names = new Set(services.flatMap(({ properties: declared }) => Object.keys(declared)));
  assert.deepEqual(added("properties"), [...names].sort());
});

test("a release is packed with what a deployment, a caller and a receiver need, and sums that hold", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-archives-"));
  t.after(() => rm(folder, { recursive: true }));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const names = (await packRelease(folder, version)).map((path) => basename(path));
  const kinds = ["client", "event-types", "deployment", "chart"].map((kind) => `signalbox-${kind}-${version}.tgz`);
  assert.deepEqual(names, [...kinds, "SHA256SUMS"]);
  for (const line of (await readFile(join(folder, "SHA256SUMS"), "utf8")).trim().split("\n")) {
    const [sum, name = ""] = line.split("  ");
    assert.equal(
      createHash("sha256")
        .update(await readFile(join(folder, name)))
        .digest("hex"),
      sum,
      name,
    );
  }
  const listed = execFileSync("tar", ["--list", "--file", join(folder, kinds[3] ?? "")], { encoding: "utf8" });
  for (const path of ["docker-compose.yml", "k8s/base/account.yaml", "infra/docker/make-secrets.mjs"])
    assert.ok(listed.split("\n").includes(path), path);
  await fetchHelm();
  const chart = await runHelm("show", "chart", join(folder, kinds[4] ?? ""));
  assert.match(chart, new RegExp(`^version: ${version.replaceAll(".", "\\.")}$`, "m"), "Helm reads the packed chart");
});
