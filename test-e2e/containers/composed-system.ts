import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { environment } from "@signalbox/runtime";
import { parse, stringify } from "yaml";
import { containersFolder, podmanCompose, run } from "./podman.ts";

/** The containers of a compose file, run by podman in a folder that looks like a clone. */
export type ComposedSystem = Awaited<ReturnType<typeof composedSystem>>;

interface Options {
  /** Compose files that extend the first one, for commands that name them. */
  readonly adds?: readonly string[];
  /** Variables as if in `.env`, before its content. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Prepares a compose file of the repository for podman, with the edge on a port of the caller. */
export async function composedSystem(file: string, port: number, options: Options = {}) {
  const project = file.replace(/\.yml$/, "").replaceAll(".", "-");
  const folder = join(containersFolder, project);
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, "bin"), { recursive: true });
  await symlink(join(repositoryFolder, "infra"), join(folder, "infra"));
  for (const name of [file, ...(options.adds ?? [])]) await writeFile(join(folder, name), await forPodman(name));
  const docker = join(folder, "bin/docker");
  await writeFile(docker, dockerOf(await podmanCompose(), project));
  await chmod(docker, 0o755);

  const PATH = [join(folder, "bin"), environment().PATH].join(delimiter);
  const variables = { ...options.variables, PATH, EDGE_PORT: String(port) };
  const shell = (line: string) => run("sh", ["-c", line], { cwd: folder, variables });
  const container = (service: string) => `${project}_${service}_1`;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    /** Runs a line of shell like a reader of our pages, with podman as `docker`, and returns its output. */
    shell,
    /** Stops and removes the containers; the data is kept. */
    down: async () => void (await shell(`docker compose -f ${file} ${allProfiles} down`)),
    /** Removes the data too. */
    // Without secrets the variables of the file have no value, and nothing can be removed.
    remove: async () => void (await shell(`${madeSecrets}; docker compose -f ${file} ${allProfiles} down --volumes`)),
    restart: async (service: string) => void (await run("podman", ["restart", container(service)])),
    /** Returns its name in podman. */
    containerOf: container,
    /** Runs a command in the container of a service and returns its output. */
    exec: (service: string, command: readonly string[]) => run("podman", ["exec", container(service), ...command]),
    logs: (service: string) => run("podman", ["logs", "--tail", "40", container(service)], { mayFail: true }),
  };
}

/** The profiles of both files; a profile that a file lacks is empty. */
const allProfiles = "--profile observe --profile mail";
const madeSecrets = 'docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/house" signalbox make-secrets /house';

/**
 * Builds the script for the part of Docker's command line that our pages use. It never prompts, because there is no
 * terminal.
 */
const dockerOf = (podmanComposeFile: string, project: string): string => `#!/bin/bash
set -eu
[ "$1" = compose ] || exec podman "$@"
shift
words=()
terminal=""
for word in "$@"; do
  words+=("$word")
  # The first one alone: a later "run" is an argument of what runs.
  case "$terminal$word" in exec | run) words+=(-T) terminal=none ;; esac
done
# Of two deployments in one folder each has containers and volumes of its own.
case " $* " in *" compose.small.yml "*) project=compose-small ;; *) project=${project} ;; esac
exec ${podmanComposeFile} -p $project "\${words[@]}"
`;

/** Programs that are in no package of Debian. */
const withoutStandIn = ["grafana", "collector", "kafka-exporter"];

/**
 * Adapts a compose file to podman 4. Podman starts no container whose jobs have ended (its graph of dependencies loses
 * them), so everything starts together, and waits. It has no names on an internal network, nor for a container on two
 * networks, so there is one external network.
 */
async function forPodman(name: string): Promise<string> {
  const text = await readFile(join(repositoryFolder, name), "utf8");
  const file = parse(text, { merge: true });
  for (const [service, container] of Object.entries<Record<string, unknown>>(file.services)) {
    delete container.depends_on;
    delete container.build;
    if (withoutStandIn.includes(service)) delete file.services[service];
    // One with an address of its own keeps it: the edge knows its exporter by it.
    else if (Array.isArray(container.networks)) container.networks = ["inside"];
  }
  if (file.networks) file.networks.inside.internal = false;
  for (const key of Object.keys(file)) if (key.startsWith("x-")) delete file[key];
  // As YAML 1.1, in which podman-compose would read a plain `no` as false.
  return stringify(file, { version: "1.1" });
}
