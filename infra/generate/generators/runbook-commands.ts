import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";

const path = "docs/runbooks.md";
const marked = /<!-- (?<kind>operator|repair|logs|start|sql|kafka): (?<names>[^\n]+) -->\n[\s\S]*?<!-- end -->/g;

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

/** Builds the lines that start a service again, with the settings that it has by now. */
const startLines = (name: string): Readonly<Record<string, string>> => ({
  Kubernetes: others[name]
    ? `kubectl delete pod ${others[name].cluster}`
    : `kubectl rollout restart deployment/${name}`,
  compose: `docker compose up --detach ${name}`,
  small: `docker compose -f compose.small.yml up --detach ${others[name]?.small ?? "signalbox"}`,
});

/** Statements of runbooks for PostgreSQL, by a short name. */
const statements: Readonly<Record<string, string>> = {
  blockers:
    "select pid, datname, state, now() - xact_start as open_for, left(query, 80) as query from pg_stat_activity where pid in (select unnest(pg_blocking_pids(pid)) from pg_stat_activity)",
  "end blocker": "select pg_terminate_backend($PID)",
};

function sqlLines(name: string): Readonly<Record<string, string>> {
  const command = `--command "${statements[name]}"`;
  return {
    Kubernetes: `kubectl exec $(kubectl get pods --selector signalbox.engine=postgres --output name | head -1) -- psql --username postgres ${command}`,
    compose: `docker compose exec postgres psql --username signalbox ${command}`,
    small: `docker compose -f compose.small.yml exec postgres psql --username signalbox ${command}`,
  };
}

/**
 * The brokers of Kafka, of which a cluster has several: one by one, because those that remain hold the copies. `POD` is the one
 * that is away. Compose has one broker and the small deployment none, so there is nothing that could replace a lost disk.
 */
const brokers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  list: {
    Kubernetes: "kubectl get pods --selector signalbox.engine=kafka",
    compose: "docker compose ps --all kafka",
    small: "docker compose -f compose.small.yml ps --all postgres",
  },
  "start again": {
    Kubernetes: "kubectl delete pod $POD",
    compose: "docker compose up --detach kafka",
    small: "docker compose -f compose.small.yml up --detach postgres",
  },
  "replace disk": { Kubernetes: "kubectl annotate pod $POD strimzi.io/delete-pod-and-pvc=true" },
};

/** The lines of a name, by the kind of its mark. `repair` changes something, and so no test runs it by itself. */
const kinds = {
  operator: operatorLines,
  repair: operatorLines,
  logs: logLines,
  start: startLines,
  sql: sqlLines,
  kafka: (name: string) => brokers[name] ?? {},
} as const;
type Kind = keyof typeof kinds;

/** The commands on the page of runbooks, below each mark that names tasks or logs: for every deployment. */
export const runbookCommands: Generator = {
  name: "commands of runbooks",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const page = await readFile(join(root, path), "utf8");
    return new Map([[path, page.replaceAll(marked, (_, kind: Kind, names: string) => blockOf(kind, names))]]);
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

/** Lists the lines of a page's section for a deployment, in order. */
export function commandsIn(section: string, deployment: "Kubernetes" | "compose" | "small"): string[] {
  const lines = section.matchAll(new RegExp(`^${deployment} +(.+)$`, "gm"));
  return [...lines].map(([, command = ""]) => command);
}

function blockOf(kind: Kind, names: string): string {
  const linesOf = kinds[kind];
  const lines = names
    .split("; ")
    .flatMap((name) => Object.entries(linesOf(name)).map(([where, command]) => `${where.padEnd(10)}  ${command}`));
  return `<!-- ${kind}: ${names} -->\n\`\`\`text\n${lines.join("\n")}\n\`\`\`\n<!-- end -->`;
}
