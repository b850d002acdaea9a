import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigurationError, environment, loadConfiguration } from "@signalbox/config";
import { serviceNames } from "@signalbox/core";
import { enginesFolder } from "../engines/index.ts";
import { packageProperties } from "../generate/package-properties.ts";
import { root } from "../generate/repository.ts";

/** The parser that Docker Compose is built on, at a fixed version; installed with Go, without Docker. */
const parser = { module: "github.com/compose-spec/compose-go/v2/cmd", version: "v2.16.2" };

interface ComposeFile {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
}

const secrets = await madeSecrets();
const compose = await parse("docker-compose.yml");
await parse("compose.small.yml");
await parse("docker-compose.yml", "compose.tls.yml");
const problems = await configurationProblems(compose);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length === 0 ? 0 : 1;

/** Returns the generated variables of `.env`, and examples of a deployment's own. */
async function madeSecrets(): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-secrets-"));
  try {
    const script = join(root, "infra/docker/make-secrets.mjs");
    execFileSync(process.execPath, [script], { cwd: folder, stdio: "pipe" });
    const lines = (await readFile(join(folder, ".env"), "utf8")).trim().split("\n");
    const values = lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
    return new Map([...values, ["EDGE_CERTIFICATES", "./certificates"]]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * Replaces the variables with values, like `.env`: the parser's command line reads no environment. Also proves that the
 * script for `.env` creates every variable.
 */
function withSecrets(text: string, file: string): string {
  // The parser leaves out services with a profile.
  return text
    .replaceAll(/profiles: \[\w+\]/g, "")
    .replaceAll(/\$\{(\w+)(?::([?-])([^}]*))?\}/g, (_, name: string, kind?: string, other?: string) => {
      const value = secrets.get(name) ?? (kind === "-" ? other : undefined);
      if (value === undefined)
        throw new Error(`${file} needs ${name}, which infra/docker/make-secrets.mjs does not create`);
      return value;
    });
}

/** Parses a compose file, with those that extend it, like Docker. */
async function parse(...names: readonly string[]): Promise<ComposeFile> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-compose-"));
  try {
    const files = names.map((name) => join(folder, name));
    for (const [index, name] of names.entries())
      await writeFile(files[index] ?? "", withSecrets(await readFile(join(root, name), "utf8"), name));
    const json = execFileSync(installedParser(), ["-format", "json", "-no-path-resolution", ...files], {
      encoding: "utf8",
    });
    return JSON.parse(json);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function installedParser(): string {
  const folder = join(enginesFolder, `compose-go-${parser.version}`);
  const program = join(folder, "cmd");
  if (existsSync(program)) return program;
  try {
    execFileSync("go", ["install", `${parser.module}@${parser.version}`], {
      env: { ...environment(), GOBIN: folder },
      stdio: "pipe",
    });
  } catch (error) {
    throw new Error("The compose parser needs Go: install it (https://go.dev/dl) and try again.", { cause: error });
  }
  return program;
}

/** Lists the configuration problems that each service would report at its start. */
async function configurationProblems({ services }: ComposeFile): Promise<string[]> {
  const packages = await packageProperties();
  return serviceNames.flatMap((service) => {
    const declared = packages.find(({ kind, name }) => kind === "service" && name === service);
    const container = services[service];
    if (declared === undefined || container === undefined)
      return [`${service}: not in docker-compose.yml, or without properties`];
    try {
      loadConfiguration({
        service,
        properties: declared.properties,
        argv: [],
        environment: container.environment ?? {},
        directory: null,
      });
      return [];
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      return [`${service}: ${error.message}`];
    }
  });
}
