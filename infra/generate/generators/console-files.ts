import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileGenerator, keptFiles, NeedsDevelopmentError } from "../generator.ts";
import { filesIn, root } from "../repository.ts";

/** The built console in one file of git, so that a start needs no bundler and no front-end package. */
const keptFile = "services/gateway/assets/console.json.br";
const folder = "services/console";
/** Largest size of the built files together, before they are compressed to about a quarter. */
const bytesMax = 700_000;

/** The console's files: the kept ones, or built ones when a source has changed. */
export const consoleFiles = fileGenerator(keptFile, async () =>
  JSON.stringify(await keptFiles(keptFile, await digestOfSources(), buildConsole)),
);

/** Covers the console, the client that it is built with, and the page whose samples it shows. */
async function digestOfSources(): Promise<string> {
  const own = ["index.html", "portal.html", "package.json", "tsconfig.json", "vite.config.ts"].map(
    (name) => `${folder}/${name}`,
  );
  // Tests and types change nothing in the built files.
  const sources = [...filesIn(`${folder}/src`), ...filesIn("libs/client/src")].filter(
    (path) => !/\.test\.tsx?$|\.d\.ts$/.test(path),
  );
  const paths = [...own, ...sources, "docs/how-to/verify-deliveries.md"].sort();
  const hash = createHash("sha256").update(await versionsOfPackages());
  for (const path of paths) hash.update(`\0${path}\0`).update(await readFile(join(root, path)));
  return hash.digest("hex");
}

/** The versions of the packages that the console's own packages bring. */
async function versionsOfPackages(): Promise<string> {
  const { packages } = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
  };
  const { devDependencies } = JSON.parse(await readFile(join(root, folder, "package.json"), "utf8"));
  const versions = new Map<string, string>();
  const take = (name: string) => {
    const found = packages[`node_modules/${name}`];
    if (!found?.version || versions.has(name)) return;
    versions.set(name, found.version);
    for (const next of Object.keys(found.dependencies ?? {})) take(next);
  };
  for (const name of Object.keys(devDependencies)) take(name);
  return JSON.stringify([...versions].sort());
}

/** Builds in memory; the same sources give the same bytes. */
async function buildConsole(): Promise<Record<string, string>> {
  if (!existsSync(join(root, "node_modules/vite")))
    throw new NeedsDevelopmentError("Vite is not installed; run: npm install");
  const { build } = await import("vite");
  const built = await build({ root: join(root, folder), logLevel: "warn", build: { write: false } });
  if (!("output" in built)) throw new Error("Vite built several outputs, or watches.");
  const files = built.output.map((file): [string, string] => {
    const text = file.type === "chunk" ? file.code : Buffer.from(file.source).toString();
    return [file.fileName, file.fileName.endsWith("licences.md") ? mergeLicences(text) : text];
  });
  const bytes = files.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
  if (bytes > bytesMax) throw new Error(`The console has ${bytes} bytes; at most ${bytesMax} are kept.`);
  return Object.fromEntries(files.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes each licence once, below the packages that have it with their copyright. */
function mergeLicences(text: string): string {
  const packagesOf = new Map<string, string[]>();
  for (const section of text.split(/^## /m).slice(1)) {
    const [name = "", ...lines] = section.split("\n").map((line) => line.trim());
    const copyright = lines.filter((line) => /^Copyright /i.test(line));
    // The same words are broken into lines in several ways.
    const words = lines.filter((line) => !copyright.includes(line)).join(" ");
    const licence = words.replace(/\s+/g, " ").trim();
    packagesOf.set(licence, [...(packagesOf.get(licence) ?? []), `- ${[name, ...copyright].join(", ")}`]);
  }
  const parts = [...packagesOf].map(([licence, packages]) => `${packages.join("\n")}\n\n${licence}\n`);
  return `# Licences of what these files contain\n\n${parts.join("\n")}`;
}
