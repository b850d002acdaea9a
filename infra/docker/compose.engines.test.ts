import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";
import { serviceNames } from "@signalbox/core";
import { loadConfiguration } from "@signalbox/runtime";
import { enginesFolder } from "../engines/engine-folders.ts";
import { fetchOnce } from "../engines/fetch-once.ts";
import { installWithGo } from "../engines/program-engines.ts";
import { packageProperties } from "../generate/package-properties.ts";
import { root } from "../generate/repository.ts";

/** The parser that Docker Compose is built on, at a fixed version; installed with Go, without Docker. */
const parser = { module: "github.com/compose-spec/compose-go/v2/cmd", version: "v2.16.2" };

/** Variables that a deployment with TLS sets beside the made secrets (docs/how-to/deploy.md). */
const ownVariables = [
  ["EDGE_CERTIFICATES", "./certificates"],
  ["BASE_URL", "https://signalbox.example"],
] as const;

const run = promisify(execFile);

interface Container {
  readonly environment?: Readonly<Record<string, string>>;
  readonly logging?: { readonly options?: Readonly<Record<string, string>> };
}

interface ComposeFile {
  readonly services: Readonly<Record<string, Container>>;
}

let secrets: ReadonlyMap<string, string>;
before(async () => {
  secrets = await madeSecrets();
});

for (const files of [["docker-compose.yml"], ["compose.small.yml"], ["docker-compose.yml", "compose.tls.yml"]])
  test(`${files.join(" with ")} is valid, and make-secrets.mjs creates its variables`, async () => {
    const { services } = await parse(...files);
    assert.notDeepEqual(Object.keys(services), []);
    for (const [name, { logging }] of Object.entries(services))
      assert.ok(logging?.options?.["max-size"], `the log of ${name} is bounded`);
  });

test("each service would start with the properties of its container", async () => {
  const { services } = await parse("docker-compose.yml");
  const packages = await packageProperties();
  for (const service of serviceNames) {
    const declared = packages.find(({ kind, name }) => kind === "service" && name === service);
    const container = services[service];
    assert.ok(declared !== undefined && container !== undefined, `${service}: not in docker-compose.yml`);
    loadConfiguration({
      service,
      properties: declared.properties,
      argv: [],
      environment: container.environment ?? {},
      directory: null,
    });
  }
});

/** Returns the generated variables of `.env`, and examples of a deployment's own. */
async function madeSecrets(): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-secrets-"));
  try {
    const script = join(root, "infra/docker/make-secrets.mjs");
    await run(process.execPath, [script], { cwd: folder });
    const lines = (await readFile(join(folder, ".env"), "utf8")).trim().split("\n");
    const values = lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
    return new Map([...values, ...ownVariables]);
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
    const { stdout } = await run(await installedParser(), ["-format", "json", "-no-path-resolution", ...files]);
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function installedParser(): Promise<string> {
  const folder = join(enginesFolder, `compose-go-${parser.version}`);
  await fetchOnce(folder, (target) => installWithGo(target, [`${parser.module}@${parser.version}`]));
  return join(folder, "cmd");
}
