import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { enginesFolder } from "../../engines/engine-folders.ts";
import { fetchOnce } from "../../engines/fetch-once.ts";
import { run } from "../../engines/processes.ts";
import { installWithGo } from "../../engines/program-engines.ts";

const kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0";
/** Changes with the versions of kubeconform and of Kubernetes. */
const folder = join(enginesFolder, "kubeconform-0.7.0-1.37.0");
/** Larger than the problems of a whole deployment. */
const bytesMax = 64 * 1024 * 1024;

/**
 * Validates the manifests of a file against the schemas of Kubernetes and of the operators; returns the problems, empty
 * when there are none. Installs kubeconform and the schemas once; it needs no cluster.
 */
export async function schemaProblems(file: string): Promise<string> {
  await fetchOnce(folder, async (target) => {
    await installWithGo(target, [kubeconform]);
    await writeSchemas(target);
  });
  const schemas = join(folder, "schemas", "{{.ResourceKind}}{{.KindSuffix}}.json");
  const args = ["-strict", "-kubernetes-version", "1.37.0", "-schema-location", schemas, file];
  const failed = await run(join(folder, "kubeconform"), args, { maxBuffer: bytesMax }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return failed.stdout + failed.stderr;
}

const kubernetes = "v1.37.0-local-strict";
const requirements = join(import.meta.dirname, "requirements.txt");
/** The operators whose resources the components use, by the module and the folder of its CRDs. */
const operators: readonly { readonly module: string; readonly crds: string }[] = [
  { module: "github.com/kedacore/keda/v2@v2.18.0", crds: "config/crd/bases" },
  { module: "sigs.k8s.io/gateway-api@v1.4.0", crds: "config/crd/standard" },
  { module: "github.com/external-secrets/external-secrets@v0.20.1", crds: "config/crds/bases" },
  { module: "github.com/cloudnative-pg/cloudnative-pg@v1.27.0", crds: "config/crd/bases" },
  { module: "github.com/prometheus-operator/prometheus-operator@v0.85.0", crds: "example/prometheus-operator-crd" },
];

interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
  readonly [other: string]: unknown;
}

interface Definition {
  readonly kind: string;
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Writes the schemas of Kubernetes and of the operators to `schemas` of the folder, in kubeconform's layout. */
async function writeSchemas(folder: string): Promise<void> {
  const target = join(folder, "schemas");
  await mkdir(target);
  await writeKubernetesSchemas(target);
  const modules = await mkdtemp(join(tmpdir(), "signalbox-crds-"));
  try {
    await run("go", ["mod", "init", "crds"], { cwd: modules });
    for (const { module, crds } of operators) {
      const { stdout } = await run("go", ["mod", "download", "-json", module], { cwd: modules });
      await writeDefinitions(join((JSON.parse(stdout) as { Dir: string }).Dir, crds), target);
    }
  } finally {
    await rm(modules, { recursive: true });
  }
}

/** Copies the schemas from a Python package. Its references are made for a server; here the files are side by side. */
async function writeKubernetesSchemas(target: string): Promise<void> {
  const packages = await mkdtemp(join(tmpdir(), "signalbox-schemas-"));
  try {
    await run("python3", ["-m", "venv", join(packages, "python")]);
    const options = ["--quiet", "--require-hashes", "--no-deps", "--target", packages, "--requirement", requirements];
    await run(join(packages, "python/bin/python"), ["-m", "pip", "install", ...options]);
    const source = join(packages, "kubernetes_validate/kubernetes-json-schema", kubernetes);
    for (const name of await readdir(source)) {
      const text = (await readFile(join(source, name), "utf8")).replaceAll(
        '"/api/_definitions.json#',
        '"_definitions.json#',
      );
      const { $id: _, ...schema } = JSON.parse(text);
      await writeFile(join(target, name), JSON.stringify(schema));
    }
  } finally {
    await rm(packages, { recursive: true });
  }
}

async function writeDefinitions(source: string, target: string): Promise<void> {
  for (const name of (await readdir(source)).filter((file) => /\.ya?ml$/.test(file))) {
    for (const document of parseAllDocuments(await readFile(join(source, name), "utf8"))) {
      const definition = document.toJS() as Definition | null;
      if (definition?.kind !== "CustomResourceDefinition") continue;
      const { group, names, versions } = definition.spec;
      for (const { name: version, schema } of versions) {
        const file = `${names.kind.toLowerCase()}-${group.split(".")[0]}-${version}.json`;
        await writeFile(join(target, file), JSON.stringify(strict(schema.openAPIV3Schema)));
      }
    }
  }
}

/** Forbids unknown members, where the definition does not allow them explicitly. */
function strict(schema: Schema): Schema {
  const { properties, ...rest } = schema;
  if (!properties) return schema;
  const closed =
    "additionalProperties" in rest || rest["x-kubernetes-preserve-unknown-fields"]
      ? {}
      : { additionalProperties: false };
  return {
    ...rest,
    ...closed,
    properties: Object.fromEntries(Object.entries(properties).map(([n, one]) => [n, inner(n, one)])),
  };
}

/** Metadata has the schema of Kubernetes itself, which the definition leaves out. */
const inner = (name: string, schema: Schema): Schema => (name === "metadata" ? schema : strict(schema));
