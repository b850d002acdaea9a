import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";

const path = "docs/runbooks.md";
const marked = /<!-- operator: (?<tasks>[^\n]+) -->\n[\s\S]*?<!-- end -->/g;

/** The command before a task, by deployment. */
const deployments = {
  Kubernetes: "kubectl exec deployment/gateway -- env OPERATIONS_KEY=$KEY signalbox-ops",
  compose: "docker compose exec --env OPERATIONS_KEY=$KEY gateway signalbox-ops",
  small: "docker compose -f compose.small.yml exec signalbox signalbox-ops",
} as const;

/** The commands of operators on the page of runbooks, below each mark that names tasks: the same for every deployment. */
export const runbookCommands: Generator = {
  name: "commands of runbooks",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const page = await readFile(join(root, path), "utf8");
    return new Map([[path, page.replaceAll(marked, (_, tasks: string) => blockOf(tasks))]]);
  },
};

/** Lists the tasks that a page names. */
export const tasksIn = (page: string): string[] => [
  ...new Set([...page.matchAll(marked)].flatMap(({ groups }) => (groups?.tasks ?? "").split("; "))),
];

function blockOf(tasks: string): string {
  const lines = tasks
    .split("; ")
    .flatMap((task) =>
      Object.entries(deployments).map(([where, command]) => `${where.padEnd(10)}  ${command} ${task}`),
    );
  return `<!-- operator: ${tasks} -->\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n<!-- end -->`;
}
