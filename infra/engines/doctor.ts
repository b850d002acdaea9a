import { execFile } from "node:child_process";
import { promisify, stripVTControlCharacters } from "node:util";
import { installCommands, type PackageSystem, type WantedProgram, wantedPrograms } from "./programs.ts";

const run = promisify(execFile);

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

const isMissing = ({ state }: Finding): boolean => state !== "ok";

/** The packages of a system that bring what is missing, each once. Python's virtual environments are one of their own. */
export async function missingPackages(findings: readonly Finding[], system: PackageSystem): Promise<string[]> {
  const names = findings.filter(isMissing).flatMap(({ program }) => program.packages[system] ?? []);
  if (system === "debian" && !(await canMakeEnvironments())) names.push("python3-venv");
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
