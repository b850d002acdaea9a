import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { enginesFolder } from "../../engines/engine-folders.ts";
import { fetchOnce } from "../../engines/fetch-once.ts";
import { installWithGo } from "../../engines/go-program.ts";
import { writeSchemas } from "./kubernetes-schemas.ts";

const run = promisify(execFile);

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
