import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { root } from "../generate/repository.ts";
import { packEventTypes } from "./event-types/pack-event-types.ts";
import { packClient } from "./pack-client.ts";

/** The parts of a deployment besides the image. */
const deploymentFiles = [
  "docker-compose.yml",
  "compose.small.yml",
  "compose.tls.yml",
  "k8s",
  "infra/docker",
  "infra/edge",
  "infra/observe",
];
const chartFolder = "k8s/chart";

/**
 * Packs what a version consists of besides its image into a folder: the client with the command, the types and schemas of
 * all events, the files of a deployment, the chart, and `SHA256SUMS` over them. Answers with their paths.
 */
export async function packRelease(destination: string): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const folder = resolve(destination);
  await mkdir(folder, { recursive: true });
  const packed = [await packClient(folder), await packEventTypes(folder)];
  const deployment = join(folder, `signalbox-deployment-${version}.tgz`);
  execFileSync("tar", ["--create", "--gzip", "--file", deployment, "--directory", root, ...deploymentFiles]);
  packed.push(deployment);
  packed.push(await packChart(folder, version));
  const sums = await Promise.all(packed.map(async (path) => `${sha256(await readFile(path))}  ${basename(path)}\n`));
  await writeFile(join(folder, "SHA256SUMS"), sums.join(""));
  return [...packed, join(folder, "SHA256SUMS")];
}

/** Packs the chart as Helm does: below the name of the chart. */
async function packChart(folder: string, version: string): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), "signalbox-chart-"));
  try {
    await cp(join(root, chartFolder), join(scratch, "signalbox"), { recursive: true });
    const archive = join(folder, `signalbox-chart-${version}.tgz`);
    execFileSync("tar", ["--create", "--gzip", "--file", archive, "--directory", scratch, "signalbox"]);
    return archive;
  } finally {
    await rm(scratch, { recursive: true });
  }
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
