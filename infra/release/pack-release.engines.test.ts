import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { root } from "../generate/repository.ts";
import { kubeVersion, runHelm } from "../kubernetes/test/render-chart.ts";
import { packRelease } from "./pack-release.ts";

const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
const archive = (kind: string) => `signalbox-${kind}-${version}.tgz`;
const folder = await mkdtemp(join(tmpdir(), "signalbox-archives-"));
let packed: readonly string[] = [];
before(async () => {
  packed = await packRelease(folder);
});
after(() => rm(folder, { recursive: true }));

test("a release has the client, the types of events, the files of a deployment, the chart, sums", () => {
  const names = ["client", "event-types", "deployment", "chart"].map(archive);
  assert.deepEqual(
    packed.map((path) => basename(path)),
    [...names, "SHA256SUMS"],
  );
});

test("sha256sum accepts the sums of a release", () => {
  execFileSync("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: folder, stdio: "pipe" });
});

test("the deployment of a release holds compose, manifests and the script for secrets", () => {
  const listed = execFileSync("tar", ["--list", "--file", join(folder, archive("deployment"))], { encoding: "utf8" });
  for (const path of ["docker-compose.yml", "k8s/chart/values.yaml", "infra/docker/make-secrets.mjs"])
    assert.ok(listed.split("\n").includes(path), path);
});

test("Helm reads the version of a release from its chart", async () => {
  const chart = await runHelm("show", "chart", join(folder, archive("chart")));
  assert.match(chart, new RegExp(`^version: ${version.replaceAll(".", "\\.")}$`, "m"));
  assert.match(chart, new RegExp(`^appVersion: ${version.replaceAll(".", "\\.")}$`, "m"));
});

test("the chart of a release brings the alerts", async () => {
  const values = ["--set", "serviceMonitor.enabled=true", "--show-only", "templates/servicemonitor.yaml"];
  const rendered = await runHelm("template", "signalbox", join(folder, archive("chart")), kubeVersion, ...values);
  assert.match(rendered, /alert: EngineDown/);
});
