import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";

const path = "docs/runbooks.md";
const marked = /<!-- (?<kind>operator|logs): (?<names>[^\n]+) -->\n[\s\S]*?<!-- end -->/g;

/** Builds the lines of a task of operators, by deployment. */
const operatorLines = (task: string): Readonly<Record<string, string>> => ({
  Kubernetes: `kubectl exec deployment/gateway -- env OPERATIONS_KEY=$KEY signalbox-ops ${task}`,
  compose: `docker compose exec --env OPERATIONS_KEY=$KEY gateway signalbox-ops ${task}`,
  small: `docker compose -f compose.small.yml exec signalbox signalbox-ops ${task}`,
});

/** Those that are no services of ours: where a cluster has them, and what has their place in the small deployment. */
const others: Readonly<Record<string, { readonly cluster: string; readonly small: string }>> = {
  edge: { cluster: "--namespace ingress-nginx --selector app.kubernetes.io/component=controller", small: "signalbox" },
  postgres: { cluster: "--selector signalbox.engine=postgres", small: "postgres" },
  kafka: { cluster: "--selector signalbox.engine=kafka", small: "postgres" },
  redis: { cluster: "--selector signalbox.engine=redis", small: "signalbox" },
  blobs: { cluster: "--selector signalbox.engine=blobs", small: "signalbox" },
  prometheus: { cluster: "--namespace monitoring --selector app.kubernetes.io/name=prometheus", small: "prometheus" },
};

/** Builds the lines that show the last lines of a container's log, by deployment. */
function logLines(name: string): Readonly<Record<string, string>> {
  const { cluster, small } = others[name] ?? {
    cluster: `--selector app.kubernetes.io/name=${name}`,
    small: "signalbox",
  };
  return {
    Kubernetes: `kubectl logs ${cluster} --tail 100`,
    compose: `docker compose logs --tail 100 ${name}`,
    small: `docker compose -f compose.small.yml logs --tail 100 ${small}`,
  };
}

/** The commands on the page of runbooks, below each mark that names tasks or logs: for every deployment. */
export const runbookCommands: Generator = {
  name: "commands of runbooks",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const page = await readFile(join(root, path), "utf8");
    return new Map([
      [path, page.replaceAll(marked, (_, kind: "operator" | "logs", names: string) => blockOf(kind, names))],
    ]);
  },
};

/** Lists the tasks that a page names. */
export const tasksIn = (page: string): string[] => [
  ...new Set(
    [...page.matchAll(marked)].flatMap(({ groups }) =>
      groups?.kind === "operator" ? (groups.names ?? "").split("; ") : [],
    ),
  ),
];

function blockOf(kind: "operator" | "logs", names: string): string {
  const linesOf = kind === "operator" ? operatorLines : logLines;
  const lines = names
    .split("; ")
    .flatMap((name) => Object.entries(linesOf(name)).map(([where, command]) => `${where.padEnd(10)}  ${command}`));
  return `<!-- ${kind}: ${names} -->\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n<!-- end -->`;
}
