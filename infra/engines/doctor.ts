import { stripVTControlCharacters } from "node:util";
import { EngineAbsentError } from "./engine.ts";
import { run } from "./processes.ts";

/** One line of the table: what a program is wanted for, and what the machine has. */
export interface Finding {
  readonly program: WantedProgram;
  /** Its name on this machine; null when it is absent. */
  readonly command: string | null;
  /** The version found, or "yes" for a program without one; null when it is absent. */
  readonly found: string | null;
  readonly state: "ok" | "absent" | "too old";
}

/** Looks for every program that the engines tier wants. */
export async function examine(programs: readonly WantedProgram[] = wantedPrograms): Promise<Finding[]> {
  return await Promise.all(
    programs.map(async (program) => {
      const { command, found } = await find(program);
      return { program, command, found, state: stateOf(program, found) };
    }),
  );
}

/** Finds a program of the table under the name that it has here. @throws EngineAbsentError with the commands that install it */
export async function findProgram(
  name: string,
  programs = wantedPrograms,
): Promise<{ readonly command: string; readonly version: string }> {
  const findings = await examine(programs.filter(({ names }) => names.includes(name)));
  const { command = null, found = null, state = "absent" } = findings[0] ?? {};
  if (command !== null && found !== null && state === "ok") return { command, version: found };
  throw new EngineAbsentError(`${name} is ${state}; install it with:\n${await describeMissing(findings)}`);
}

/** The packages of a system that bring what is missing, each once. Python's virtual environments are one of their own. */
export async function missingPackages(findings: readonly Finding[], system: PackageSystem): Promise<string[]> {
  const names = findings.flatMap(({ state, program }) => (state === "ok" ? [] : (program.packages[system] ?? [])));
  const wantsPython = findings.some(({ program }) => program.names.includes("python3"));
  if (wantsPython && system === "debian" && !(await canMakeEnvironments())) names.push("python3-venv");
  return [...new Set(names)];
}

/** The table that a person reads before anything runs, with one command for each system; "" when nothing is missing. */
export async function describeMissing(findings: readonly Finding[]): Promise<string> {
  const packages = await missingPackages(findings, "debian");
  if (packages.length === 0) return "";
  const commands = await Promise.all(
    (Object.keys(installCommands) as PackageSystem[]).map(
      async (system) =>
        `  ${system.padEnd(7)} ${installCommands[system]} ${(await missingPackages(findings, system)).join(" ")}`,
    ),
  );
  const advice = findings.flatMap(({ state, program }) =>
    state === "too old" && program.tooOld ? [program.tooOld] : [],
  );
  return [...commands, ...[...new Set(advice)].map((line) => `  ${line}`)].join("\n");
}

/** The whole table: program, version wanted, version found, use. */
export function tableOf(findings: readonly Finding[]): string {
  const rows = findings.map(({ program, found, state }) => [
    program.names[0] as string,
    program.oldest ? `≥ ${program.oldest}` : "any",
    found ?? "absent",
    state === "ok" ? "" : state.toUpperCase(),
    program.usedFor,
  ]);
  const all = [["program", "wanted", "found", "", "used for"], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

async function find({
  names,
  versionArgs = ["--version"],
}: WantedProgram): Promise<Pick<Finding, "command" | "found">> {
  for (const name of names) {
    try {
      const { stdout, stderr } = await run(name, [...versionArgs]);
      return { command: name, found: /\d+(\.\d+)*/.exec(stripVTControlCharacters(stdout + stderr))?.[0] ?? "yes" };
    } catch (error) {
      // macOS has a `java` that only says where to get one: it fails, and counts as absent.
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" && typeof (error as { code: unknown }).code !== "number") {
        throw error;
      }
    }
  }
  return { command: null, found: null };
}

function stateOf({ oldest }: WantedProgram, found: string | null): Finding["state"] {
  if (found === null) return "absent";
  return oldest === undefined || compareVersions(found, oldest) >= 0 ? "ok" : "too old";
}

/** Compares dotted numbers; a part that one of them lacks counts as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number)) as [number[], number[]];
  for (let place = 0; place < Math.max(left.length, right.length); place++) {
    const difference = (left[place] ?? 0) - (right[place] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Debian's python3 comes without ensurepip, and then makes no environment. */
async function canMakeEnvironments(): Promise<boolean> {
  return await run("python3", ["-c", "import ensurepip"]).then(
    () => true,
    () => false,
  );
}

/** One program that `npm run test:engines` takes from the machine, because no package registry of ours has it. */
export interface WantedProgram {
  /** As on PATH; the first that is there counts. */
  readonly names: readonly string[];
  /** Makes the program print its version and end; `--version` unless given. */
  readonly versionArgs?: readonly string[];
  /** The oldest version that does, as its leading numbers; left out, any does. */
  readonly oldest?: string;
  /** The tests that need it. */
  readonly usedFor: string;
  /** The package that brings it, by system; null where a system brings it by itself, or has none. */
  readonly packages: Readonly<Record<PackageSystem, string | null>>;
  /** Said when the package of an older system is too old. */
  readonly tooOld?: string;
}

type PackageSystem = "debian" | "fedora" | "macos";

/** The command of each system that installs packages by their names. */
const installCommands: Readonly<Record<PackageSystem, string>> = {
  debian: "apt-get install -y --no-install-recommends",
  fedora: "dnf install -y",
  macos: "brew install",
};

const newerJava = "Debian 11 and older: install a Temurin JDK 17 (https://adoptium.net) and put its bin on PATH";
const newerGo = "Debian 12 and older: unpack Go from https://go.dev/dl and put its bin on PATH";

/** The names of a package; a system that is left out has the name of the one before. */
const packages = (debian: string, fedora: string | null = debian, macos: string | null = fedora) => ({
  debian,
  fedora,
  macos,
});
const jdk = packages("openjdk-17-jdk-headless", "java-21-openjdk-devel", "openjdk");
const java = { versionArgs: ["-version"], oldest: "17", packages: jdk, tooOld: newerJava } as const;

/** Everything that the engines tier wants beside Node and npm. What Maven, Go, pip and npm can fetch is fetched. */
export const wantedPrograms: readonly WantedProgram[] = [
  { names: ["java"], usedFor: "Kafka", ...java },
  { names: ["javac"], usedFor: "the Java sample", ...java },
  { names: ["mvn"], oldest: "3.6", usedFor: "fetching Kafka", packages: packages("maven") },
  {
    names: ["go"],
    versionArgs: ["version"],
    oldest: "1.25",
    usedFor: "building versitygw (S3), Helm",
    packages: packages("golang-go", "golang", "go"),
    tooOld: newerGo,
  },
  {
    names: ["python3"],
    oldest: "3.11",
    usedFor: "schemathesis, Pillow, the Python sample",
    packages: packages("python3", "python3", "python"),
    tooOld: "Debian 11 and older: install Python 3.11 or newer with pyenv and put it first on PATH",
  },
  { names: ["redis-server"], oldest: "6", usedFor: "Redis", packages: packages("redis-server", "redis") },
  {
    names: ["nginx"],
    versionArgs: ["-v"],
    oldest: "1.18",
    usedFor: "the edge",
    packages: packages("nginx-light", "nginx"),
  },
  {
    names: ["chromium", "chromium-browser", "google-chrome"],
    usedFor: "pages in a browser",
    packages: packages("chromium", "chromium", "--cask chromium"),
  },
  { names: ["prometheus"], oldest: "2.40", usedFor: "scraped metrics", packages: packages("prometheus") },
  { names: ["promtool"], oldest: "2.40", usedFor: "alert rules", packages: packages("prometheus") },
  { names: ["amtool"], usedFor: "alert routes", packages: packages("prometheus-alertmanager", "alertmanager") },
  {
    names: ["prometheus-blackbox-exporter", "blackbox_exporter"],
    usedFor: "probes of the edge",
    packages: packages("prometheus-blackbox-exporter", null, "blackbox_exporter"),
    tooOld: "Fedora has no package: go install github.com/prometheus/blackbox_exporter@v0.27.0",
  },
  {
    names: ["psql"],
    usedFor: "roles of the databases",
    packages: packages("postgresql-client", "postgresql", "libpq"),
  },
  { names: ["openssl"], versionArgs: ["version"], usedFor: "certificates, the tour", packages: packages("openssl") },
  { names: ["curl"], usedFor: "the tour", packages: packages("curl", "curl", null) },
  { names: ["zsh"], usedFor: "the tour in zsh", packages: packages("zsh") },
];
