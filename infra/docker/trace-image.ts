import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import process from "node:process";
import { brotliDecompressSync } from "node:zlib";
import { nodeFileTrace } from "@vercel/nft";
import { type ImagePackage, licencePage, softwareBill } from "./licence-page.ts";

/**
 * Copies into a folder only the files that the processes of the image load: `trace-image.ts <folder>`. Adds the bill of
 * materials and the page of licences of exactly these files.
 */
const root = resolve(import.meta.dirname, "../..");
const [target = ""] = process.argv.slice(2);

/** Own files that are read, not imported: schemas, migrations, texts, and the scripts that start a process. */
const ownFolders = [
  "libs",
  "services",
  "infra/backup",
  "infra/kafka",
  "infra/embedded",
  "infra/engines",
  "infra/edge",
  "infra/docker",
];
const isOurs = (path: string): boolean =>
  !/(^|\/)(test|node_modules)(\/|$)|\.test\.ts$|^(libs\/testing|services\/console)(\/|$)|^libs\/client\/.*\.d\.ts$/.test(
    path,
  );

const { fileList, warnings } = await nodeFileTrace(await entries(), {
  base: root,
  // Scripts for browsers, which are served and never loaded, and the engines of a clone.
  ignore: ["services/gateway/assets/**", ".engines/**"],
  // Reads the code that Node runs: the source without its types.
  readFile: async (path) => {
    const text = await readFile(path).catch(() => null);
    return text && path.endsWith(".ts") ? stripTypeScriptTypes(text.toString(), { mode: "strip" }) : text;
  },
});
const untold = [...warnings].filter(({ message }) =>
  /Failed to (parse|resolve).*(libs|services|infra)\//.test(message),
);
if (untold.length > 0) throw new Error(untold.map(({ message }) => message).join("\n"));

for (const folder of ownFolders)
  await cp(join(root, folder), join(target, folder), {
    recursive: true,
    filter: (from) => isOurs(relative(root, from)),
  });
for (const name of ["package.json", "LICENSE", "NOTICE"]) await cp(join(root, name), join(target, name));
// A service that needs another version than the others has a folder of its own.
const packageFiles = [...fileList].filter((path) => /(^|\/)node_modules\//.test(path));
for (const path of packageFiles) {
  await mkdir(dirname(join(target, path)), { recursive: true });
  await cp(join(root, path), join(target, path), { verbatimSymlinks: true });
}

const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, { readonly integrity?: string }>>;
};
const packages = [...(await readPackages(packageFiles)), ...(await keptPackages())].sort((a, b) =>
  a.name.localeCompare(b.name),
);
await writeFile(join(target, "sbom.cdx.json"), softwareBill(packages, { version, node: process.versions.node }));
await writeFile(join(target, "LICENSES.md"), licencePage(packages));
process.stdout.write(`${packageFiles.length} files of ${packages.length} packages\n`);

/** Lists the scripts that `run-service.sh` starts, and modules loaded by name. */
async function entries(): Promise<string[]> {
  const services = (await readdir(join(root, "services")))
    .map((name) => `services/${name}/src/main.ts`)
    .filter((path) => existsSync(join(root, path)));
  const jobs = ["topics", "groups", "dead-letters", "dead-events", "parked"].map((name) => `infra/kafka/${name}.ts`);
  const children = [
    "libs/imaging/src/child/image-process.ts",
    "libs/federation/src/planning/plan-worker.ts",
    "services/webhook-delivery/src/event-types/schema-thread.ts",
  ];
  const others = [
    "services/account/src/first-key-cli.ts",
    "services/account/src/first-link-cli.ts",
    "libs/client/src/command/signalbox-cli.ts",
    "infra/docker/migrate.ts",
    "infra/backup/backup.ts",
    "infra/edge/exporter/main.ts",
    "infra/embedded/start.ts",
  ];
  const hooks = ["node_modules/@opentelemetry/instrumentation/hook.mjs"];
  return [...services, ...jobs, ...others, ...children, ...hooks].map((path) => join(root, path));
}

/** The packages of which the gateway keeps the files that it serves and never loads. */
async function keptPackages(): Promise<ImagePackage[]> {
  const assets = join(root, "services/gateway/assets");
  const kept = JSON.parse(await readFile(join(assets, "packages.json"), "utf8")) as Omit<ImagePackage, "text">[];
  return Promise.all(
    kept.map(async ({ name, version, licence, integrity }) => {
      const text = brotliDecompressSync(await readFile(join(assets, name, "LICENSE.br"))).toString();
      return { name, version, licence, integrity, text };
    }),
  );
}

async function readPackages(files: readonly string[]): Promise<ImagePackage[]> {
  const folders = new Set(files.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []));
  const found = await Promise.all([...folders].map(readPackage));
  return found.filter((one) => one !== null);
}

async function readPackage(folder: string): Promise<ImagePackage | null> {
  const manifest = await readFile(join(root, folder, "package.json"), "utf8").catch(() => null);
  if (manifest === null) return null;
  const { name, version, license } = JSON.parse(manifest) as Partial<ImagePackage> & { readonly license?: unknown };
  if (!name || !version || name.startsWith("@signalbox/")) return null;
  const licence =
    typeof license === "string" ? license : ((license as { type?: string } | undefined)?.type ?? "unknown");
  const names = await readdir(join(root, folder));
  const file = names.find((one) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(one));
  const text = file ? await readFile(join(root, folder, file), "utf8") : null;
  const integrity = lock.packages[folder]?.integrity;
  if (!integrity) throw new Error(`package-lock.json has no sum of ${folder}`);
  return { name, version, licence, integrity, text };
}
