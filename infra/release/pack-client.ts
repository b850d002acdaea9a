import { execFileSync } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";
import { clientResources } from "../generate/generators/client-resources.ts";
import { clientTypes } from "../generate/generators/client-types.ts";
import { writeOutput } from "../generate/output.ts";
import { root } from "../generate/repository.ts";

const clientFolder = join(root, "libs/client");
const commandFolder = join(root, "libs/client/src/command");
const commandFile = "signalbox-cli";

/**
 * Compiles the typed client and the command, and packs them for npm as one package: JavaScript and types, and no source of
 * ours. Answers with the path of the tarball. It has the version of the product, since its types are those of this version's
 * documents.
 */
export async function packClient(destination: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-client-"));
  try {
    await generateClient();
    const sources = emitClientTypes(join(folder, "dist"));
    await transpile(join(clientFolder, "src"), sources, join(folder, "dist"));
    await transpileCommand(join(folder, "dist/command"));
    for (const types of ["api.d.ts", "events.d.ts"])
      await cp(join(clientFolder, "src/generated", types), join(folder, "dist/generated", types));
    await cp(join(clientFolder, "README.md"), join(folder, "README.md"));
    await cp(join(root, "LICENSE"), join(folder, "LICENSE"));
    await writeFile(join(folder, "package.json"), `${JSON.stringify(await manifest(), null, 2)}\n`);
    await mkdir(destination, { recursive: true });
    const options = ["--json", "--ignore-scripts", "--pack-destination", resolve(destination)];
    const [packed] = JSON.parse(execFileSync("npm", ["pack", ...options], { cwd: folder, encoding: "utf8" }));
    return join(resolve(destination), packed.filename);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Makes what the client has from the routes and events as they are now. */
export async function generateClient(): Promise<void> {
  for (const { generate } of [clientTypes, clientResources]) await writeOutput(await generate(), []);
}

/**
 * Compiles the client and writes its types, or hands them over. Returns the sources that the client consists of, by their
 * paths in its folder.
 */
function emitClientTypes(outDir: string, write?: ts.WriteFileCallback): string[] {
  const doors = ["src/index.ts", "src/webhooks/index.ts"].map((door) => join(clientFolder, door));
  const rootDir = join(clientFolder, "src");
  const compiled = ts.createProgram(doors, {
    outDir,
    rootDir,
    declaration: true,
    emitDeclarationOnly: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    rewriteRelativeImportExtensions: true,
    strict: true,
    types: ["node"],
  });
  const problems = [...ts.getPreEmitDiagnostics(compiled), ...compiled.emit(undefined, write).diagnostics];
  if (problems.length > 0) throw new Error(ts.formatDiagnostics(problems, formatHost));
  const sources = compiled.getSourceFiles().filter(({ isDeclarationFile }) => !isDeclarationFile);
  return sources.map(({ fileName }) => relative(rootDir, fileName));
}

/**
 * Writes the command as JavaScript without types, which nobody imports. It finds the client beside it by the name of their
 * package, as in the repository.
 */
async function transpileCommand(outDir: string): Promise<void> {
  const files = (await readdir(commandFolder, { recursive: true })).filter(
    (name) => name.endsWith(".ts") && !name.endsWith(".test.ts") && name !== "index.ts",
  );
  await transpile(commandFolder, files, outDir);
  await chmod(join(outDir, `${commandFile}.js`), 0o755);
}

/** Writes sources as JavaScript without their comments, which are two thirds of the client and stand in its types. */
async function transpile(folder: string, files: readonly string[], outDir: string): Promise<void> {
  for (const name of files) {
    const { outputText } = ts.transpileModule(await readFile(join(folder, name), "utf8"), {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        rewriteRelativeImportExtensions: true,
        verbatimModuleSyntax: true,
        removeComments: true,
      },
    });
    const path = join(outDir, name.replace(/\.ts$/, ".js"));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, outputText);
  }
}

const formatHost: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => root,
  getNewLine: () => "\n",
};

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
    bin: { signalbox: `dist/command/${commandFile}.js` },
    files: ["dist"],
    // `fetch`, `File` and `AbortSignal.any` as this client uses them.
    engines: { node: ">=20.3" },
    dependencies,
  };
}
