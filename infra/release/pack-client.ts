import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { writeOutput } from "../generate/generator.ts";
import { clientResources } from "../generate/generators/client-resources.ts";
import { clientTypes } from "../generate/generators/client-types.ts";
import { root, temporaryFolder } from "../generate/repository.ts";

const clientFolder = join(root, "libs/client");
const doors = ["index.ts", "webhooks/index.ts"];
const command = "command/signalbox-cli";

/**
 * Compiles the typed client and the command, and packs them for npm as one package: JavaScript and types, and no source of
 * ours. Answers with the path of the tarball. It has the version of the product, since its types are those of this version's
 * documents.
 */
export async function packClient(destination: string): Promise<string> {
  await using scratch = await temporaryFolder("signalbox-client-");
  const folder = scratch.path;
  const dist = join(folder, "dist");
  await generateClient();
  compile(dist, doors, ["--strict", "--declaration", "--emitDeclarationOnly"]);
  // Nobody imports the command, so it has no types. Comments are two thirds of the client and stand in its types.
  compile(dist, [...doors, `${command}.ts`], ["--noCheck", "--removeComments"]);
  await chmod(join(dist, `${command}.js`), 0o755);
  for (const types of ["api.d.ts", "events.d.ts"])
    await cp(join(clientFolder, "src/generated", types), join(dist, "generated", types));
  await cp(join(clientFolder, "README.md"), join(folder, "README.md"));
  await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
  await writeFile(join(folder, "package.json"), `${JSON.stringify(await manifest(), null, 2)}\n`);
  await mkdir(destination, { recursive: true });
  const options = ["--json", "--ignore-scripts", "--pack-destination", resolve(destination)];
  const [packed] = JSON.parse(execFileSync("npm", ["pack", ...options], { cwd: folder, encoding: "utf8" }));
  return join(resolve(destination), packed.filename);
}

/** Makes what the client has from the routes and events as they are now. */
export async function generateClient(): Promise<void> {
  for (const { generate } of [clientTypes, clientResources]) await writeOutput(await generate());
}

/** Compiles sources of the client and what they import. */
function compile(outDir: string, files: readonly string[], options: readonly string[]): void {
  const sources = join(clientFolder, "src");
  const form = ["--target", "es2022", "--lib", "es2023,dom", "--module", "nodenext", "--types", "node"];
  const rest = [
    "--verbatimModuleSyntax",
    "--rewriteRelativeImportExtensions",
    "--outDir",
    outDir,
    "--rootDir",
    sources,
  ];
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const argv = [compiler, "--ignoreConfig", ...files.map((file) => join(sources, file)), ...form, ...rest, ...options];
  execFileSync(process.execPath, argv, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
}

async function manifest(): Promise<object> {
  const { name, dependencies } = JSON.parse(await readFile(join(clientFolder, "package.json"), "utf8"));
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  return {
    name,
    version,
    description: "Typed client of the Signalbox HTTP API, and the signalbox command",
    license: "Apache-2.0",
    type: "module",
    exports: {
      ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
      "./webhooks": { types: "./dist/webhooks/index.d.ts", default: "./dist/webhooks/index.js" },
    },
    sideEffects: false,
    bin: { signalbox: `dist/${command}.js` },
    files: ["dist"],
    // `fetch`, `File` and `AbortSignal.any` as this client uses them.
    engines: { node: ">=20.3" },
    dependencies,
  };
}
