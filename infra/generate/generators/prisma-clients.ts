import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { environment } from "@signalbox/runtime";
import { run } from "../../engines/processes.ts";
import { fileGenerator, type Generator, keptFiles, NeedsDevelopmentError } from "../generator.ts";
import { filesIn, type Package, packagesWith, root, temporaryFolder } from "../repository.ts";

/** The clients of all services in one file of git, so that a start needs no Prisma CLI, which is 200 MB with its packages. */
const keptFile = "infra/generate/prisma-clients.json.br";

const cli = join(root, "node_modules/prisma-cli/build/index.js");
const services = () => packagesWith("prisma/schema.prisma");

/** The typed database client of each service: the kept one, or one from its `prisma/schema.prisma` when that has changed. */
export const prismaClients: Generator = {
  name: "Prisma clients",
  kind: "built",
  folders: async () => (await services()).map(({ folder }) => `${folder}/src/generated/prisma`),
  generate: async () => new Map(Object.entries((await freshClients()).files)),
};

/** The kept clients, made anew when a schema or the version of Prisma has changed. */
export const keptPrismaClients = fileGenerator(keptFile, async () => JSON.stringify(await freshClients()));

const freshClients = async () => keptFiles(keptFile, await sourcesOf(await services()), generateClients);

/** Digests the schemas and the version of Prisma. */
async function sourcesOf(packages: readonly Package[]): Promise<string> {
  const hash = createHash("sha256");
  const { devDependencies } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  hash.update(devDependencies["prisma-cli"]);
  for (const { folder } of packages) {
    hash.update(`\0${folder}\0`).update(await readFile(join(root, folder, "prisma/schema.prisma")));
  }
  return hash.digest("hex");
}

/** Makes the clients of all services, file by file in one order, so that the same schemas give the same bytes. */
export async function generateClients(): Promise<Record<string, string>> {
  if (!existsSync(cli)) throw new NeedsDevelopmentError("Prisma's command is not installed; run: npm install");
  const clients = await Promise.all((await services()).map(({ folder }) => generateClient(folder)));
  return Object.fromEntries(clients.flat().sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Generates beside the sources and reads the result, so that a running service never finds a half-written client. */
async function generateClient(folder: string): Promise<Array<[path: string, content: string]>> {
  const parent = join(root, "node_modules/.cache/signalbox");
  await mkdir(parent, { recursive: true });
  await using workspace = await temporaryFolder("prisma-", parent);
  await cp(join(root, folder, "prisma/schema.prisma"), join(workspace.path, "prisma/schema.prisma"));
  await runPrisma(workspace.path, folder);
  const files = filesIn("src/generated/prisma", workspace.path).map(async (path): Promise<[string, string]> => {
    return [`${folder}/${path}`, await readFile(join(workspace.path, path), "utf8")];
  });
  return await Promise.all(files);
}

async function runPrisma(workspace: string, folder: string): Promise<void> {
  try {
    await run(process.execPath, [cli, "generate", "--schema", "prisma/schema.prisma"], {
      cwd: workspace,
      // The command requires a native schema engine, which it would download, although generating never starts it. Any
      // existing file satisfies it.
      env: { ...environment(), PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" },
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${folder}/prisma/schema.prisma: ${stderr.trim() || stdout.trim()}`, { cause: error });
  }
}
