import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Generator } from "../generator.ts";
import { root } from "../repository.ts";

const path = "docs/runbooks.md";
const marked = /<!-- (?<kind>shell|start|sql|kafka|postgres): (?<names>[^\n]+) -->\n[\s\S]*?<!-- end -->/g;
/** A marked block, or a fenced one whose lines call the functions of the shell. */
const block = new RegExp(`${marked.source}|\`\`\`text\\n(?<calls>(?:(?:ops|logs) .+\\n)+)\`\`\``, "g");

type Deployment = "Kubernetes" | "compose" | "small";
type CommandLines = Readonly<Partial<Record<Deployment, string>>>;

/** Builds the lines of a task of operators, by deployment. */
const operatorLines = (task: string): CommandLines => ({
  Kubernetes: `kubectl exec deployment/gateway -- env OPERATIONS_KEY=$KEY signalbox-ops ${task}`,
  compose: `docker compose exec --env OPERATIONS_KEY=$KEY gateway signalbox-ops ${task}`,
  small: `docker compose -f compose.small.yml exec signalbox signalbox-ops ${task}`,
});

/** Those that are no services of ours: where a cluster has them, and what has their place in the small deployment. */
const others: Readonly<Record<string, { readonly cluster: string; readonly small: string }>> = {
  edge: { cluster: "--namespace ingress-nginx --selector app.kubernetes.io/component=controller", small: "signalbox" },
  // The ingress controller of a cluster shows its figures itself.
  "edge-exporter": {
    cluster: "--namespace ingress-nginx --selector app.kubernetes.io/component=controller",
    small: "signalbox",
  },
  postgres: { cluster: "--selector signalbox.engine=postgres", small: "postgres" },
  kafka: { cluster: "--selector signalbox.engine=kafka", small: "postgres" },
  redis: { cluster: "--selector signalbox.engine=redis", small: "signalbox" },
  blobs: { cluster: "--selector signalbox.engine=blobs", small: "signalbox" },
  backup: { cluster: "--selector app.kubernetes.io/name=backup", small: "backup" },
  prometheus: { cluster: "--namespace monitoring --selector app.kubernetes.io/name=prometheus", small: "prometheus" },
};

/** Builds the lines that show the last lines of a container's log, by deployment. */
function logLines(name: string): CommandLines {
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
const startLines = (name: string): CommandLines => ({
  Kubernetes: `kubectl rollout restart deployment/${name}`,
  compose: `docker compose up --detach ${name}`,
  small: "docker compose -f compose.small.yml up --detach signalbox",
});

/** Statements of runbooks for PostgreSQL, by a short name. */
const statements: Readonly<Record<string, string>> = {
  blockers:
    "select pid, datname, state, now() - xact_start as open_for, left(query, 80) as query from pg_stat_activity where pid in (select unnest(pg_blocking_pids(pid)) from pg_stat_activity)",
  "end blocker": "select pg_terminate_backend($PID)",
};

function sqlLines(name: string): CommandLines {
  const command = `--command "${statements[name]}"`;
  return {
    Kubernetes: `kubectl exec $(kubectl get pods --selector cnpg.io/cluster=signalbox-postgres,cnpg.io/instanceRole=primary --output name) -- psql --username postgres ${command}`,
    compose: `docker compose exec postgres psql --username signalbox ${command}`,
    small: `docker compose -f compose.small.yml exec postgres psql --username signalbox ${command}`,
  };
}

/**
 * The brokers of Kafka, of which a cluster has several: one by one, because those that remain hold the copies. `POD` is the one
 * that is away. Compose has one broker and the small deployment none, so there is nothing that could replace a lost disk.
 */
const brokers: Readonly<Record<string, CommandLines>> = {
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

/** The servers of PostgreSQL, a primary and its copies: one by one, so that a cluster always has one that answers. */
const servers: Readonly<Record<string, CommandLines>> = {
  list: {
    Kubernetes: "kubectl get pods --selector cnpg.io/cluster=signalbox-postgres --label-columns cnpg.io/instanceRole",
    compose: "docker compose ps --all postgres",
    small: "docker compose -f compose.small.yml ps --all postgres",
  },
  "start again": {
    Kubernetes: "kubectl delete pod $POD",
    compose: "docker compose up --detach postgres",
    small: "docker compose -f compose.small.yml up --detach postgres",
  },
};

/** The lines of a name, by their kind. `repair` changes something, and so no test runs it by itself. */
const kinds = {
  operator: operatorLines,
  repair: operatorLines,
  logs: logLines,
  start: startLines,
  sql: sqlLines,
  kafka: (name: string) => brokers[name] ?? {},
  postgres: (name: string) => servers[name] ?? {},
} as const satisfies Readonly<Record<string, (name: string) => CommandLines>>;
type Kind = keyof typeof kinds;

/** Functions that an operator pastes into a shell once: the blocks of tasks and logs call them. */
const shellFunctions: Readonly<Record<Deployment, string>> = {
  Kubernetes: `ops() { kubectl exec deployment/gateway -- env OPERATIONS_KEY=$KEY signalbox-ops "$@"; }
logs() {
  case $1 in
    edge | edge-exporter) set -- --namespace ingress-nginx --selector app.kubernetes.io/component=controller ;;
    prometheus) set -- --namespace monitoring --selector app.kubernetes.io/name=prometheus ;;
    postgres | kafka | redis | blobs) set -- --selector signalbox.engine=$1 ;;
    *) set -- --selector app.kubernetes.io/name=$1 ;;
  esac
  kubectl logs "$@" --tail 100
}`,
  compose: `ops() { docker compose exec --env OPERATIONS_KEY=$KEY gateway signalbox-ops "$@"; }
logs() { docker compose logs --tail 100 $1; }`,
  small: `ops() { docker compose -f compose.small.yml exec signalbox signalbox-ops "$@"; }
logs() {
  case $1 in
    postgres | kafka) set -- postgres ;;
    backup | prometheus) ;;
    *) set -- signalbox ;;
  esac
  docker compose -f compose.small.yml logs --tail 100 $1
}`,
};

/** The commands on the page of runbooks that its functions do not have, below each mark: for every deployment. */
export const runbookCommands: Generator = {
  name: "commands of runbooks",
  generate: async () => {
    const page = await readFile(join(root, path), "utf8");
    return new Map([[path, page.replaceAll(marked, (_, kind: Kind | "shell", names: string) => blockOf(kind, names))]]);
  },
};

/** Lists the tasks of operators that a page names and that only look. */
export const tasksIn = (page: string): string[] => [
  ...new Set(calledIn(page).flatMap(({ kind, name }) => (kind === "operator" ? [name] : []))),
];

/** Lists the commands of a page's section for a deployment, in order, with the functions of the shell written out. */
export function commandsIn(
  section: string,
  deployment: Deployment,
  wanted: readonly Kind[] = Object.keys(kinds) as Kind[],
): string[] {
  return calledIn(section).flatMap(({ kind, name }) =>
    wanted.includes(kind) ? (kinds[kind](name)[deployment] ?? []) : [],
  );
}

export const shellFunctionsOf = (deployment: Deployment): string => shellFunctions[deployment];

/** Lists what a page calls, in order. A task with a variable, such as an id to drop, is a repair. */
function calledIn(page: string): { readonly kind: Kind; readonly name: string }[] {
  return [...page.matchAll(block)].flatMap(({ groups = {} }) => {
    const { kind, names = "", calls } = groups;
    if (calls !== undefined) return calls.trimEnd().split("\n").map(callOf);
    if (kind === "shell") return [];
    return names.split("; ").map((name) => ({ kind: kind as Kind, name }));
  });
}

function callOf(line: string): { readonly kind: Kind; readonly name: string } {
  const name = line.slice(line.indexOf(" ") + 1);
  if (line.startsWith("logs ")) return { kind: "logs", name };
  return { kind: name.includes("$") ? "repair" : "operator", name };
}

function blockOf(kind: Kind | "shell", names: string): string {
  const isShell = kind === "shell";
  const lines = isShell
    ? [shellFunctions[names as Deployment]]
    : names.split("; ").flatMap((name) => linesOf(kind, name));
  return `<!-- ${kind}: ${names} -->\n\`\`\`${isShell ? "sh" : "text"}\n${lines.join("\n")}\n\`\`\`\n<!-- end -->`;
}

const linesOf = (kind: Kind, name: string): string[] =>
  Object.entries(kinds[kind](name)).map(([where, line]) => `${where.padEnd(10)}  ${line}`);
