import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { enginesFolder, repositoryFolder } from "../../engines/engine-folders.ts";
import { fetchOnce } from "../../engines/fetch-once.ts";
import { installWithGo } from "../../engines/go-program.ts";
import { writeSchemas } from "./kubernetes-schemas.ts";

const run = promisify(execFile);

const kustomize = "sigs.k8s.io/kustomize/kustomize/v5@v5.8.1";
const kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0";
/** Changes with the version of the tools. */
const folder = join(enginesFolder, "kubernetes-1.37.0");
/** Larger than the output of kustomize for a deployment. */
const bytesMax = 64 * 1024 * 1024;

/** Installs kustomize, kubeconform and the schemas of Kubernetes, without a cluster. */
export async function fetchKubernetesTools(): Promise<void> {
  await fetchOnce(folder, async (target) => {
    await installWithGo(target, [kustomize, kubeconform]);
    await writeSchemas(target);
  });
}

/** Builds the manifests of an overlay, as they would be applied. */
export async function buildOverlay(name: string): Promise<string> {
  const path = join(repositoryFolder, "k8s/overlays", name);
  const { stdout } = await run(join(folder, "kustomize"), ["build", path], { maxBuffer: bytesMax });
  return stdout;
}

/**
 * Validates the manifests of a file against the schemas of Kubernetes and of the operators; returns the problems, empty
 * when there are none.
 */
export async function schemaProblems(file: string): Promise<string> {
  const schemas = join(folder, "schemas", "{{.ResourceKind}}{{.KindSuffix}}.json");
  const args = ["-strict", "-kubernetes-version", "1.37.0", "-schema-location", schemas, file];
  const failed = await run(join(folder, "kubeconform"), args, { maxBuffer: bytesMax }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return failed.stdout + failed.stderr;
}
