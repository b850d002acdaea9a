import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { environment } from "@signalbox/runtime";
import { enginesFolder } from "../../engines/engine-folders.ts";
import { fetchOnce } from "../../engines/fetch-once.ts";
import { installWithGo } from "../../engines/go-program.ts";

const run = promisify(execFile);

const helm = "helm.sh/helm/v3/cmd/helm@v3.22.0";
/** Changes with the version of Helm. */
const folder = join(enginesFolder, "helm-3.22.0");
const bytesMax = 64 * 1024 * 1024;

/** The version of Kubernetes that manifests are rendered for: Helm built by Go alone knows none. */
export const kubeVersion = "--kube-version=1.37.0";

/** Runs a command of Helm, which Go builds once, and returns its output. It needs no cluster. @throws Error with its message */
export async function runHelm(...args: readonly string[]): Promise<string> {
  await fetchOnce(folder, (target) => installWithGo(target, [helm]));
  const env = { ...environment(), KUBECONFIG: "/dev/null", HELM_CACHE_HOME: folder };
  const { stdout } = await run(join(folder, "helm"), args, { env, maxBuffer: bytesMax });
  return stdout;
}
