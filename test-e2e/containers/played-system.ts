import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { exampleFile, type Manifest, manifestsIn, renderChart } from "@signalbox/infra/kubernetes/test/render-chart.ts";
import { stringify } from "yaml";
import { attempt, removeLocalEngines, startLocalEngines } from "./local-engines.ts";
import { containersFolder, run } from "./podman.ts";

export type Probe = "startupProbe" | "readinessProbe" | "livenessProbe";

/** The chart with its example `local` and stand-ins of the engines, played by podman: pods without a cluster. */
export interface PlayedSystem {
  /** The services, each a Deployment of one pod. */
  readonly services: readonly string[];
  up(): Promise<void>;
  /** Waits until a job has finished. */
  untilDone(job: string): Promise<void>;
  /** Returns the URL of a service's public listener. */
  urlOf(service: string): Promise<string>;
  /** Returns the period of a probe, and its threshold of failures in a row. */
  termsOf(service: string, probe: Probe): { readonly periodSeconds: number; readonly failureThreshold: number };
  /** Calls a probe by its manifest, from outside of the pod. Returns the status, or null without an answer. */
  asks(service: string, probe: Probe): Promise<number | null>;
  exec(service: string, command: readonly string[]): Promise<string>;
  /** Stops a pod within its manifest's time, and returns the exit code of its process. */
  stop(service: string): Promise<number>;
  logs(service: string): Promise<string>;
  remove(): Promise<void>;
}

const network = "signalbox-kubernetes-test";

export async function playedSystem(): Promise<PlayedSystem> {
  const manifests = manifestsIn(await renderChart(exampleFile("local")));
  const secrets = manifestsIn(await readFile(exampleFile("local-secrets"), "utf8"));
  const of = (kind: string): readonly Manifest[] => manifests.filter((one) => one.kind === kind);
  const named = (kind: string, name: string): Manifest => of(kind).find((one) => nameOf(one) === name);
  const services: readonly string[] = of("Deployment").map(nameOf);
  const jobs: readonly string[] = of("Job").map(nameOf);
  const podSpec = (service: string): Manifest => named("Deployment", service).spec.template.spec;
  const configMaps = of("ConfigMap");

  return {
    services,
    async up() {
      await run("podman", ["network", "create", network]);
      await startLocalEngines(network);
      for (const secret of secrets) await createSecret(secret);
      for (const name of [...jobs, ...services])
        await play(name, [...configMaps, named("Deployment", name) ?? asPod(named("Job", name))]);
    },
    async untilDone(job) {
      const container = await containerOf(job);
      await attempt(`${job} ends with 0`, async () => {
        const state = await inspect(container, "{{.State.Status}} {{.State.ExitCode}}");
        if (state !== "exited 0") throw new Error(`it is ${state}`);
      });
    },
    urlOf: async (service) => `http://${await addressOf(service)}:8080`,
    termsOf: (service, probe) => podSpec(service).containers[0][probe],
    async asks(service, probe) {
      const { ports, [probe]: terms } = podSpec(service).containers[0];
      const { containerPort } = ports.find(({ name }: Manifest) => name === terms.httpGet.port);
      const url = `http://${await addressOf(service)}:${containerPort}${terms.httpGet.path}`;
      const signal = AbortSignal.timeout(terms.timeoutSeconds * 1_000);
      return await fetch(url, { signal }).then(
        ({ status }) => status,
        () => null,
      );
    },
    exec: async (service, command) => await run("podman", ["exec", await containerOf(service), ...command]),
    async stop(service) {
      const container = await containerOf(service);
      await run("podman", ["stop", "--time", String(podSpec(service).terminationGracePeriodSeconds), container]);
      return Number(await inspect(container, "{{.State.ExitCode}}"));
    },
    logs: async (service) => await run("podman", ["logs", "--tail", "40", await containerOf(service)], withErrors),
    async remove() {
      addresses.clear();
      const pods = await run("podman", ["pod", "ls", "--quiet", "--filter", `network=${network}`]);
      for (const pod of pods.split("\n").filter(Boolean))
        await run("podman", ["pod", "rm", "--force", "--time", "5", pod]);
      for (const { metadata } of secrets) await run("podman", ["secret", "rm", metadata.name], withErrors);
      await removeLocalEngines(network);
      await run("podman", ["network", "rm", "--force", network], withErrors);
    },
  };
}

const withErrors = { mayFail: true } as const;

/** Returns the name of a service or job; that of a Job ends with the revision of the release. */
const nameOf = ({ metadata }: Manifest): string => metadata.labels["app.kubernetes.io/name"];

/** Plays one file: podman gives the network name of a pod to all pods of a file. */
async function play(name: string, manifests: readonly Manifest[]): Promise<void> {
  const file = join(containersFolder, `${name}.yaml`);
  await writeFile(file, manifests.map((one) => `---\n${stringify(forPodman(one))}`).join(""));
  await run("podman", ["kube", "play", "--network", `${network}:alias=${name}`, file]);
}

/** Creates a secret as JSON, because podman 4 writes YAML and reads JSON. */
async function createSecret({ metadata, stringData }: Manifest): Promise<void> {
  const file = join(containersFolder, `${metadata.name}.secret.json`);
  const data = Object.entries<string>(stringData).map(([name, value]) => [name, btoa(value)]);
  await writeFile(file, JSON.stringify(Object.fromEntries(data)), { mode: 0o600 });
  await run("podman", ["secret", "create", metadata.name, file]);
}

/** Converts a Job to a pod, because podman plays no Jobs. It restarts the container until it succeeds, like a Job. */
function asPod({ metadata, spec }: Manifest): Manifest {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...metadata, name: `${nameOf({ metadata })}-pod` },
    spec: spec.template.spec,
  };
}

/**
 * Removes the liveness probe, which podman runs as a curl inside of the container: it is called from outside. Removes
 * ports, which podman 4 would open on the machine.
 */
function forPodman(manifest: Manifest): Manifest {
  const copy = structuredClone(manifest);
  for (const container of copy.spec?.template?.spec.containers ?? []) {
    delete container.livenessProbe;
    delete container.ports;
  }
  return copy;
}

/** Finds the container of a Deployment: podman names its pod by the name and, depending on the version, a number. */
const containerOf = async (name: string): Promise<string> =>
  (await run("podman", ["ps", "--all", "--quiet", "--filter", `name=^${name}-pod(-0)?-${name}$`])).trim();

const inspect = async (container: string, format: string): Promise<string> =>
  (await run("podman", ["inspect", "--format", format, container])).trim();

/** Addresses of pods, which never change. */
const addresses = new Map<string, string>();

async function addressOf(name: string): Promise<string> {
  const known = addresses.get(name);
  if (known) return known;
  const pod = await inspect(await containerOf(name), "{{.Pod}}");
  const infra = (await run("podman", ["pod", "inspect", "--format", "{{.InfraContainerID}}", pod])).trim();
  const found = await inspect(infra, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}");
  addresses.set(name, found);
  return found;
}
