import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { findProgram } from "@signalbox/infra/engines/doctor.ts";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { fetchOnce } from "@signalbox/infra/engines/fetch-once.ts";
import { environment } from "@signalbox/runtime";

const run = promisify(execFile);
const here = import.meta.dirname;

/** The command of a sample: a program and the arguments before the sample's own. */
export type Command = readonly [program: string, ...args: string[]];

/** The samples of the page, with the preparation of each. */
export const samples: Readonly<Record<string, () => Promise<Command>>> = {
  TypeScript: async () => [process.execPath, join(here, "consume.ts")],
  Python: () => pythonWith(here, "consume.py"),
  Java: () => javaWith(here, "Consume.java"),
  Go: () => goIn(join(here, "go")),
};

/** Installs what `requirements.txt` beside a Python program lists, and returns its command. */
export async function pythonWith(folder: string, file: string): Promise<Command> {
  const requirements = join(folder, "requirements.txt");
  const packages = await fetchFor("python", requirements, async (into) => {
    await findProgram("python3");
    await run("python3", ["-m", "venv", into]);
    const options = ["--quiet", "--require-hashes", "--only-binary", ":all:"];
    await run(join(into, "bin", "python"), ["-m", "pip", "install", ...options, "--requirement", requirements]);
  });
  return [join(packages, "bin", "python"), join(folder, file)];
}

/** Fetches what `pom.xml` beside a Java program lists, and returns its command. */
export async function javaWith(folder: string, file: string): Promise<Command> {
  await findProgram("javac");
  const pom = join(folder, "pom.xml");
  const jars = await fetchFor("java", pom, async (into) => {
    await findProgram("mvn");
    const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${into}`, "-DincludeScope=runtime"];
    await run("mvn", ["-q", "-B", "-f", pom, ...goal]);
  });
  return ["java", "-XX:+UseSerialGC", "-cp", join(jars, "*"), join(folder, file)];
}

/** Builds the Go program of a folder with the modules that its `go.sum` lists, and returns its command. */
async function goIn(folder: string): Promise<Command> {
  await findProgram("go");
  const parts = ["go.mod", "go.sum", "consume.go"].map((file) => join(folder, file));
  const built = await fetchFor("go", parts, (into) =>
    run("go", ["build", "-mod=readonly", "-o", join(into, "consume"), "."], { cwd: folder }),
  );
  return [join(built, "consume")];
}

/** Installs the packages of a list, in a folder named after the list: another list is another folder. */
async function fetchFor(
  language: string,
  lists: string | readonly string[],
  fill: (folder: string) => Promise<unknown>,
): Promise<string> {
  const digest = createHash("sha256");
  for (const list of [lists].flat()) digest.update(await readFile(list));
  const folder = join(enginesFolder, `consume-events-${language}-${digest.digest("hex").slice(0, 12)}`);
  await fetchOnce(folder, fill);
  return folder;
}

export interface RunningSample {
  /** The events it has applied, as printed. */
  readonly events: readonly { id: string; type: string; key: string; data: unknown }[];
  /** Its whole output, for messages. */
  readonly output: string;
  readonly isRunning: boolean;
  /** Asks it to stop, and waits until it has. */
  stop(): Promise<void>;
  kill(): void;
}

export function startSample(
  [program, ...args]: Command,
  more: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): RunningSample {
  const child: ChildProcess = spawn(program, [...args, ...more], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...environment(), ...variables },
  });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
    });
  }
  let isRunning = true;
  const exited = new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      isRunning = false;
      resolve();
    });
  });
  return {
    get events() {
      const whole = printed.stdout.slice(0, printed.stdout.lastIndexOf("\n") + 1);
      return whole
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
    },
    get output() {
      return printed.stdout + printed.stderr;
    },
    get isRunning() {
      return isRunning;
    },
    stop: () => {
      child.kill("SIGTERM");
      return exited;
    },
    kill: () => void child.kill("SIGKILL"),
  };
}
