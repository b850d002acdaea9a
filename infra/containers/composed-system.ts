import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parse, stringify } from "yaml";
import { repositoryFolder } from "../engines/engine-folders.ts";
import { compose, containersFolder, run } from "./podman.ts";

/** The containers of docker-compose.yml, run by podman. */
export interface ComposedSystem {
  readonly baseUrl: string;
  up(): Promise<void>;
  /** Ends and removes the containers; the data stay. */
  down(): Promise<void>;
  /** Removes the data too. */
  remove(): Promise<void>;
  restart(service: string): Promise<void>;
  /** Its name in podman. */
  containerOf(service: string): string;
  /** Runs a command in the container of a service and answers with what it printed. */
  exec(service: string, command: readonly string[]): Promise<string>;
  logs(service: string): Promise<string>;
}

const project = "signalbox-test";
const engines = ["postgres", "kafka", "redis", "blobs"];
const jobs = ["migrate", "topics"];
const pauseMs = 1_000;
const pausesMax = 600;

/** Prepares the compose file for podman, with new secrets, and the edge on a port of the caller. */
export async function composedSystem(port: number): Promise<ComposedSystem> {
  const file = join(containersFolder, "docker-compose.yml");
  await writeFile(file, await forPodman());
  const secrets = execFileSync(process.execPath, [join(repositoryFolder, "infra/docker/make-secrets.mjs")]);
  const environmentFile = join(containersFolder, "test.env");
  await writeFile(environmentFile, secrets, { mode: 0o600 });
  const files = ["--env-file", environmentFile, "-f", file, "-p", project];
  const composing = (args: readonly string[]) => compose([...files, ...args], { EDGE_PORT: String(port) });
  const container = (service: string) => `${project}_${service}_1`;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async up() {
      await composing(["up", "-d", "--no-build", ...engines, ...jobs]);
      for (const job of jobs) await untilDone(container(job));
      await composing(["up", "-d", "--no-build"]);
    },
    down: async () => void (await composing(["down"])),
    remove: async () => void (await composing(["down", "--volumes"])),
    restart: async (service) => void (await run("podman", ["restart", container(service)])),
    containerOf: container,
    exec: (service, command) => run("podman", ["exec", container(service), ...command]),
    logs: (service) => run("podman", ["logs", "--tail", "40", container(service)], { mayFail: true }),
  };
}

/** Waits for a job, which is started again as long as what it needs is not there yet. */
async function untilDone(container: string): Promise<void> {
  const state = ["inspect", "--format", "{{.State.Status}} {{.State.ExitCode}}", container];
  for (let pause = 0; (await run("podman", state)).trim() !== "exited 0"; pause++) {
    if (pause > pausesMax) throw new Error(`${container} did not end with 0`);
    await sleep(pauseMs);
  }
}

/**
 * What podman 4 needs otherwise than Docker. It starts no container whose jobs have ended (its graph of dependencies loses
 * them), so engines and jobs are started before the rest; and it has no names on a network without a way out, nor for a
 * container on two networks, so there is one, with a way out.
 */
async function forPodman(): Promise<string> {
  const text = await readFile(join(repositoryFolder, "docker-compose.yml"), "utf8");
  const file = parse(text, { merge: true });
  for (const [name, service] of Object.entries<Record<string, unknown>>(file.services)) {
    delete service.depends_on;
    delete service.build;
    // There are no stand-ins for what observes the rest.
    if (service.profiles) delete file.services[name];
    else service.networks = ["inside"];
  }
  file.networks.inside.internal = false;
  for (const name of Object.keys(file)) if (name.startsWith("x-")) delete file[name];
  // As YAML 1.1, in which podman-compose would read a plain `no` as false.
  return stringify(file, { version: "1.1" }).replaceAll("./infra/", `${repositoryFolder}/infra/`);
}
