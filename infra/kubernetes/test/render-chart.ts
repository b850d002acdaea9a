import { join } from "node:path";
import { environment } from "@signalbox/runtime";
import { parseAllDocuments } from "yaml";
import { enginesFolder, repositoryFolder } from "../../engines/engine-folders.ts";
import { fetchOnce } from "../../engines/fetch-once.ts";
import { run } from "../../engines/processes.ts";
import { installWithGo } from "../../engines/program-engines.ts";

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked at by path; their shape is what the schemas check.
export type Manifest = any;

export const chart = join(repositoryFolder, "k8s/chart");

/** Returns the path of a file in the examples of the chart: the values `production` and `local`, and `local-secrets`. */
export const exampleFile = (name: string): string => join(chart, "examples", `${name}.yaml`);

/** Renders the chart with a file of values, as Helm would apply it. */
export async function renderChart(valuesFile: string): Promise<string> {
  return await runHelm("template", "signalbox", chart, "--namespace", "signalbox", kubeVersion, "--values", valuesFile);
}

export const manifestsIn = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS())
    .filter((manifest) => manifest !== null);

/** Returns the template of the pods of a Deployment, Job or CronJob, undefined for other kinds. */
export const podTemplateOf = ({ spec }: Manifest): Manifest => {
  const template = spec?.jobTemplate?.spec.template ?? spec?.template;
  return template?.spec?.containers && template;
};

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
