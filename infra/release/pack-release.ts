import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { root } from "../generate/repository.ts";
import { type EventTypes, readEventTypes } from "./event-types/event-shapes.ts";
import { goTypes, javaTypes, pythonTypes, typescriptTypes } from "./event-types/languages.ts";
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
    // Alerts and dashboards are links to their one place.
    await cp(join(root, chartFolder), join(scratch, "signalbox"), { recursive: true, dereference: true });
    const archive = join(folder, `signalbox-chart-${version}.tgz`);
    execFileSync("tar", ["--create", "--gzip", "--file", archive, "--directory", scratch, "signalbox"]);
    return archive;
  } finally {
    await rm(scratch, { recursive: true });
  }
}

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The files of the types by their paths: one folder for each language. */
const eventTypeFiles = (types: EventTypes): ReadonlyMap<string, string> =>
  new Map([
    ["typescript/events.ts", typescriptTypes(types)],
    ["python/signalbox_events.py", pythonTypes(types)],
    ["go/events.go", goTypes(types)],
    ["go/go.mod", "module signalbox.dev/events\n\ngo 1.21\n"],
    ["java/signalbox/events/Events.java", javaTypes(types)],
  ]);

/**
 * Packs the types of all events for TypeScript, Python, Go and Java, with their accepted schemas, as one archive. Answers
 * with its path; it has the version of the product.
 */
export async function packEventTypes(destination: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const parent = await mkdtemp(join(tmpdir(), "signalbox-event-types-"));
  const name = `signalbox-event-types-${version}`;
  try {
    for (const [path, text] of eventTypeFiles(await readEventTypes())) {
      await mkdir(dirname(join(parent, name, path)), { recursive: true });
      await writeFile(join(parent, name, path), text);
    }
    await cp(join(root, "libs/contracts/accepted"), join(parent, name, "schemas"), { recursive: true });
    await cp(join(root, "LICENSE"), join(parent, name, "LICENSE"));
    await mkdir(destination, { recursive: true });
    const archive = join(resolve(destination), `${name}.tgz`);
    execFileSync("tar", ["--create", "--gzip", "--file", archive, "--directory", parent, name]);
    return archive;
  } finally {
    await rm(parent, { recursive: true });
  }
}
