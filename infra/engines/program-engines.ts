import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { environment } from "@signalbox/runtime";
import { findProgram } from "./doctor.ts";
import type { Engine } from "./engine.ts";
import { enginesFolder } from "./engine-folders.ts";
import { answersHttp, exchange } from "./exchange.ts";
import { fetchOnce } from "./fetch-once.ts";
import { freePort } from "./free-port.ts";
import { run, startDetached } from "./processes.ts";

interface ProgramEngine extends Omit<Engine, "start" | "fetch"> {
  /** A program of the machine, unless `fetch` brings it. */
  readonly command: string;
  readonly fetch?: Engine["fetch"];
  readonly scheme: string;
  readonly details?: Readonly<Record<string, string>>;
  /** Prepares the folder, and returns the arguments that make the program serve the port. */
  readonly argumentsFor: (folder: string, port: number) => Promise<readonly string[]>;
}

/** Makes an engine of one program, which runs in its folder and logs there. */
function programEngine({ command, scheme, details = {}, argumentsFor, ...engine }: ProgramEngine): Engine {
  const { name, answers } = engine;
  return {
    fetch: async () => `${command} ${(await findProgram(command)).version}`,
    ...engine,
    async start({ folder, port: wanted }) {
      await mkdir(folder, { recursive: true });
      const port = wanted ?? (await freePort());
      const args = await argumentsFor(folder, port);
      const logFile = join(folder, `${name}.log`);
      const handle = await startDetached({ command, args, logFile, folder }, () => answers(port));
      return { name, url: `${scheme}://127.0.0.1:${port}`, port, ...handle, folder, details };
    },
  };
}

/** Enough for every test file of a run to have one of its own. */
const databases = 4096;

/** Redis from the system's packages, without persistence: nothing correct rests on it. */
export const redis = programEngine({
  name: "redis",
  command: "redis-server",
  stopSignal: "SIGTERM",
  scheme: "redis",
  async argumentsFor(folder, port) {
    const settings = { port, bind: "127.0.0.1", databases, dir: folder, save: "", appendonly: "no" };
    return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  },
  async answers(port) {
    const answer = await exchange(port, "PING\r\n");
    return answer?.toString().startsWith("+PONG") ?? false;
  },
});

/** Builds programs of published modules, each with its version (`module@v1.2.3`), into a folder. @throws EngineAbsentError */
export async function installWithGo(folder: string, modules: readonly string[]): Promise<void> {
  await findProgram("go");
  for (const module of modules) await run("go", ["install", module], { env: { ...environment(), GOBIN: folder } });
}

const gateway = { version: "v1.7.0", module: "github.com/versity/versitygw/cmd/versitygw" };
/** Named after the version, so that another version is another program. */
const gatewayFolder = join(enginesFolder, `versitygw-${gateway.version}`);
/** The gateway serves 127.0.0.1 and test data only, so the keys need no secrecy, only to be checked by the server. */
const details = { accessKey: "signalbox", secretKey: "signalbox-test-secret", region: "us-east-1" };

/** versitygw: a real S3 server over a folder, which checks signatures and conditional writes. */
export const versitygw = programEngine({
  name: "s3",
  command: join(gatewayFolder, "versitygw"),
  stopSignal: "SIGTERM",
  scheme: "s3+http",
  details,
  async fetch() {
    await fetchOnce(gatewayFolder, (folder) => installWithGo(folder, [`${gateway.module}@${gateway.version}`]));
    return `versitygw ${gateway.version}`;
  },
  async argumentsFor(folder, port) {
    // It changes its working directory and does not create folders: every path is absolute and exists.
    const [data, users, versions] = [join(folder, "data"), join(folder, "users"), join(folder, "versions")];
    for (const each of [data, users, versions]) await mkdir(each, { recursive: true });
    const { accessKey, secretKey, region } = details;
    const server = ["--port", `127.0.0.1:${port}`, "--access", accessKey, "--secret", secretKey, "--region", region];
    return ["--quiet", ...server, "--iam-dir", users, "posix", "--versioning-dir", versions, data];
  },
  answers: (port) => answersHttp(port),
});

/** The file that the caller writes beforehand, with a listener on the given port: such an engine is never shared. */
function configurationIn(folder: string, name: string): string {
  const file = join(folder, name);
  if (!existsSync(file)) throw new Error(`${file} is missing: it says what the engine serves`);
  return file;
}

/** nginx from the system's packages. It serves what `nginx.conf` in its folder says, with `daemon off`. */
export const nginx = programEngine({
  name: "nginx",
  command: "nginx",
  stopSignal: "SIGQUIT",
  scheme: "http",
  async argumentsFor(folder) {
    const configuration = configurationIn(folder, "nginx.conf");
    await mkdir(join(folder, "temporary"), { recursive: true });
    return ["-p", folder, "-c", configuration, "-e", join(folder, "nginx.log")];
  },
  answers: (port) => answersHttp(port),
});

/** Prometheus from the system's packages. It scrapes what `prometheus.yml` in its folder says. */
export const prometheus = programEngine({
  name: "prometheus",
  command: "prometheus",
  stopSignal: "SIGTERM",
  scheme: "http",
  argumentsFor: async (folder, port) => [
    `--config.file=${configurationIn(folder, "prometheus.yml")}`,
    `--storage.tsdb.path=${join(folder, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--enable-feature=exemplar-storage",
  ],
  answers: (port) => answersHttp(port, "/-/ready", "HTTP/1.1 200"),
});
