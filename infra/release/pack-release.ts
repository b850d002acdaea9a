import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { writeOutput } from "../generate/generator.ts";
import { root, temporaryFolder } from "../generate/repository.ts";
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

/**
 * Packs what a version consists of besides its image into a folder: the client with the command, the types and schemas of
 * all events, the files of a deployment, the chart, and `SHA256SUMS` over them. Answers with their paths.
 */
export async function packRelease(destination: string): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const folder = resolve(destination);
  await mkdir(folder, { recursive: true });
  const packed = [
    await packClient(folder),
    await packEventTypes(folder),
    archive(join(folder, `signalbox-deployment-${version}.tgz`), root, deploymentFiles),
    await packChart(folder, version),
  ];
  const sums = await Promise.all(packed.map(async (path) => `${sha256(await readFile(path))}  ${basename(path)}\n`));
  await writeFile(join(folder, "SHA256SUMS"), sums.join(""));
  return [...packed, join(folder, "SHA256SUMS")];
}

/** Packs the chart as Helm does: below the name of the chart. */
async function packChart(folder: string, version: string): Promise<string> {
  await using scratch = await temporaryFolder("signalbox-chart-");
  // Alerts and dashboards are links to their one place.
  await cp(join(root, "k8s/chart"), join(scratch.path, "signalbox"), { recursive: true, dereference: true });
  return archive(join(folder, `signalbox-chart-${version}.tgz`), scratch.path, ["signalbox"]);
}

/** Packs files of a folder into an archive, and answers with its path. */
function archive(path: string, folder: string, names: readonly string[]): string {
  execFileSync("tar", ["--create", "--gzip", "--file", path, "--directory", folder, ...names]);
  return path;
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
  await using parent = await temporaryFolder("signalbox-event-types-");
  const name = `signalbox-event-types-${version}`;
  const folder = join(parent.path, name);
  await writeOutput(eventTypeFiles(await readEventTypes()), [], folder);
  await cp(join(root, "libs/contracts/accepted"), join(folder, "schemas"), { recursive: true });
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  await mkdir(destination, { recursive: true });
  return archive(join(resolve(destination), `${name}.tgz`), parent.path, [name]);
}
