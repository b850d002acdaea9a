import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { kubeVersion, runHelm } from "./tools/helm.ts";

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
