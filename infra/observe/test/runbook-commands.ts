import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../generate/repository.ts";

const page = readFileSync(join(root, "docs/runbooks.md"), "utf8");
/** A marked block with a line for each deployment, or a fenced one whose lines call the functions of the shell. */
const block =
  /<!-- (?<kind>start|sql|kafka|postgres): [^\n]+ -->\n```text\n(?<lines>[^`]+)```|```text\n(?<calls>(?:(?:ops|logs) .+\n)+)```/g;

type Deployment = "Kubernetes" | "compose" | "small";
/** A `repair` changes something, and so no test runs it by itself. */
type Kind = "operator" | "repair" | "logs" | "start" | "sql" | "kafka" | "postgres";

/** Lists the tasks of operators that a page names and that only look. */
export const tasksIn = (text: string): string[] => [
  ...new Set(callsIn(text).flatMap((call) => (kindOf(call) === "operator" ? [call.replace("ops ", "")] : []))),
];

/** Lists the commands of a page's section for a deployment, in order, with the functions of the shell written out. */
export function commandsIn(section: string, deployment: Deployment, wanted?: readonly Kind[]): string[] {
  return [...section.matchAll(block)].flatMap(({ groups = {} }) => {
    const { kind, lines = "", calls = "" } = groups;
    const isWanted = (one: Kind) => wanted?.includes(one) ?? true;
    const chosen = linesOf(calls).filter((call) => isWanted(kindOf(call)));
    if (chosen.length > 0) return writtenOut(chosen, deployment);
    if (kind === undefined || !isWanted(kind as Kind)) return [];
    return linesOf(lines).flatMap((line) => (line.startsWith(deployment) ? [line.slice(12)] : []));
  });
}

const callsIn = (text: string): string[] =>
  [...text.matchAll(block)].flatMap(({ groups = {} }) => linesOf(groups.calls ?? ""));

const linesOf = (text: string): string[] => (text === "" ? [] : text.trimEnd().split("\n"));

/** A task with a variable, such as an id to drop, is a repair. */
function kindOf(call: string): Kind {
  if (call.startsWith("logs ")) return "logs";
  return call.includes("$") ? "repair" : "operator";
}

/** Runs calls of the functions that the page defines, with programs that print their words and variables that stay names. */
function writtenOut(calls: readonly string[], deployment: Deployment): string[] {
  const functions = page.split(`<!-- shell: ${deployment} -->\n\`\`\`sh\n`)[1]?.split("```")[0];
  const script = [
    `kubectl() { echo kubectl "$@"; }; docker() { echo docker "$@"; }; KEY='$KEY'`,
    functions,
    ...calls.map((call) => call.replaceAll(/[$"]/g, "\\$&")),
  ];
  return linesOf(execFileSync("sh", ["-c", script.join("\n")], { encoding: "utf8" }));
}
