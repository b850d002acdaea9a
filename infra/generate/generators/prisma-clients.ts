import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { environment } from "@signalbox/config";
import type { Generator } from "../generator.ts";
import { packagesWith, root } from "../repository.ts";

const outputOf = (folder: string) => `${folder}/src/generated/prisma`;

/** The typed database client of each service, from its `prisma/schema.prisma`. */
export const prismaClients: Generator = {
  name: "Prisma clients",
  kind: "built",
  folders: async () => (await packagesWith("prisma/schema.prisma")).map(({ folder }) => outputOf(folder)),
  generate: async () => {
    const services = await packagesWith("prisma/schema.prisma");
    const clients = await Promise.all(services.map(({ folder }) => generateClient(folder)));
    return new Map(clients.flat());
  },
};

/** Generates beside the sources and reads the result, so that a running service never finds a half-written client. */
async function generateClient(folder: string): Promise<Array<[path: string, content: string]>> {
  const parent = join(root, "node_modules/.cache/signalbox");
  await mkdir(parent, { recursive: true });
  const workspace = await mkdtemp(join(parent, "prisma-"));
  try {
    await cp(join(root, folder, "prisma/schema.prisma"), join(workspace, "prisma/schema.prisma"));
    await runPrisma(workspace, folder);
    const output = join(workspace, "src/generated/prisma");
    const files = (await readdir(output, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    return await Promise.all(
      files.map(async (file): Promise<[string, string]> => {
        const path = join(file.parentPath, file.name);
        return [`${outputOf(folder)}/${relative(output, path).replaceAll("\\", "/")}`, await readFile(path, "utf8")];
      }),
    );
  } finally {
    await rm(workspace, { recursive: true });
  }
}

async function runPrisma(workspace: string, folder: string): Promise<void> {
  const prisma = join(root, "node_modules/prisma/build/index.js");
  try {
    await promisify(execFile)(process.execPath, [prisma, "generate", "--schema", "prisma/schema.prisma"], {
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
