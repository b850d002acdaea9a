import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { environment } from "@signalbox/runtime";

const clone = createHash("sha256").update(repositoryFolder).digest("hex").slice(0, 12);
/**
 * The folder of this clone's containers: images, volumes, the base systems. Safe to delete while none of them runs. It
 * is outside of the clone, where `npm test -- --watch` would watch every file of every image.
 */
export const containersFolder = join(
  environment().XDG_CACHE_HOME ?? join(homedir(), ".cache"),
  "signalbox-containers",
  clone,
);

/** Variables with image names in docker-compose.yml; other images are built or pulled. */
export const imageVariables = {
  POSTGRES_IMAGE: "localhost/signalbox-postgres",
  KAFKA_IMAGE: "localhost/signalbox-kafka",
  REDIS_IMAGE: "localhost/signalbox-redis",
  BLOBS_IMAGE: "localhost/signalbox-blobs",
  EDGE_IMAGE: "localhost/signalbox-edge",
  MAILBOX_IMAGE: "localhost/signalbox-mailbox",
  PROMETHEUS_IMAGE: "localhost/signalbox-prometheus",
  ALERTMANAGER_IMAGE: "localhost/signalbox-alertmanager",
  PROBE_IMAGE: "localhost/signalbox-probe",
  NODE_EXPORTER_IMAGE: "localhost/signalbox-node-exporter",
  POSTGRES_EXPORTER_IMAGE: "localhost/signalbox-postgres-exporter",
  REDIS_EXPORTER_IMAGE: "localhost/signalbox-redis-exporter",
} as const;

const storage = `[storage]
driver = "overlay"
graphroot = "${containersFolder}/graph"
runroot = "${containersFolder}/run"
`;
/**
 * runc and plain control groups, because crun fails on machines with both kinds of them; limits that every host
 * accepts.
 */
const settings = `[containers]
default_ulimits = ["nofile=20000:20000","nproc=32768:32768"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
`;

/** Writes the settings of podman for this clone only: the system's are not changed. */
export async function preparePodman(): Promise<void> {
  await mkdir(containersFolder, { recursive: true });
  await writeFile(join(containersFolder, "storage.conf"), storage);
  await writeFile(join(containersFolder, "containers.conf"), settings);
}

interface Run {
  readonly cwd?: string;
  readonly variables?: Readonly<Record<string, string>>;
  /** A file for standard input. */
  readonly input?: NodeJS.ReadableStream;
  /** Returns the output also after a failure. */
  readonly mayFail?: true;
}

/** Runs a program to its end and returns its output. @throws Error with the last lines of a failed program */
export async function run(command: string, args: readonly string[], options: Run = {}): Promise<string> {
  const env = {
    ...environment(),
    ...imageVariables,
    CONTAINERS_STORAGE_CONF: join(containersFolder, "storage.conf"),
    CONTAINERS_CONF: join(containersFolder, "containers.conf"),
    ...options.variables,
  };
  const child = spawn(command, args, { cwd: options.cwd ?? repositoryFolder, env, stdio: ["pipe", "pipe", "pipe"] });
  const printed: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  if (options.input) options.input.pipe(child.stdin);
  else child.stdin.end();
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", (error) =>
      reject(new Error(`${command} cannot be started: ${error.message}`, { cause: error })),
    );
    child.once("close", resolve);
  });
  const output = Buffer.concat(printed).toString();
  if (code === 0 || options.mayFail) return output;
  const lastLines = (output + Buffer.concat(errors).toString()).trim().split("\n").slice(-20).join("\n");
  throw new Error(`${command} ${args.slice(0, 4).join(" ")} ended with ${code}:\n${lastLines}`);
}

export const hasImage = async (name: string): Promise<boolean> =>
  (await run("podman", ["images", "--quiet", name])).trim() !== "";

/** Returns the program podman-compose, installed in a Python environment of its own. */
export async function podmanCompose(): Promise<string> {
  const folder = join(containersFolder, "podman-compose-1.6.0");
  const program = join(folder, "bin/podman-compose");
  const isInstalled = await access(program).then(
    () => true,
    () => false,
  );
  if (!isInstalled) {
    await run("python3", ["-m", "venv", folder]);
    await run(join(folder, "bin/pip"), ["install", "--quiet", "podman-compose==1.6.0"]);
  }
  return program;
}
