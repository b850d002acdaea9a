import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { environment } from "@signalbox/config";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { commandsIn } from "@signalbox/infra/generate/generators/runbook-commands.ts";

const run = promisify(execFile);
const page = join(repositoryFolder, "docs/runbooks.md");

export interface RunbookShell {
  /** Runs a line of a runbook as it stands, and returns its output. */
  run(line: string, names?: Readonly<Record<string, string>>): Promise<string>;
}

interface Options {
  readonly folder: string;
  readonly baseUrl: string;
  readonly dataDirectory: string;
  readonly databaseUrl: string;
  /** File with the log of the process. */
  readonly logFile: string;
  /** Made by `docker compose up`; the drill starts the process then. */
  readonly upFile: string;
}

/** Lists the commands of an alert's runbook for the small deployment, in the order of the page. */
export async function commandsOf(alert: string): Promise<readonly string[]> {
  const section = (await readFile(page, "utf8")).split(/^(?=## )/m).find((one) => one.startsWith(`## ${alert}\n`));
  if (section === undefined) throw new Error(`there is no runbook of ${alert}`);
  return commandsIn(section, "small");
}

/**
 * Opens a shell in which the lines for the small deployment run as they stand: `docker` is a script that does, to local
 * processes, what Docker does to containers.
 */
export async function openRunbookShell(options: Options): Promise<RunbookShell> {
  const { folder, baseUrl, dataDirectory, databaseUrl, logFile, upFile } = options;
  const bin = join(folder, "bin");
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, "docker"), docker);
  await chmod(join(bin, "docker"), 0o755);
  await symlink(join(repositoryFolder, "infra/docker/signalbox-ops.sh"), join(bin, "signalbox-ops"));
  const { hostname, port, username, password } = new URL(databaseUrl);
  const variables = {
    ...environment(),
    PATH: [bin, dirname(process.execPath), environment().PATH].join(delimiter),
    OPERATIONS_URL: baseUrl,
    SIGNALBOX_EMBEDDED_DATA_DIRECTORY: dataDirectory,
    LOG_FILE: logFile,
    UP_FILE: upFile,
    PGHOST: hostname,
    PGPORT: port,
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: "postgres",
  };
  return {
    run: async (line, names = {}) =>
      (await run("sh", ["-c", line], { cwd: folder, env: { ...variables, ...names }, timeout: 60_000 })).stdout,
  };
}

/** A database of one's own machine has a user of its own, and the log of PostgreSQL is in that of the one process. */
const docker = `#!/bin/sh
set -eu
[ "$1 $2 $3" = "compose -f compose.small.yml" ] || { echo "not for the small deployment: $*" >&2; exit 2; }
verb="$4"
shift 4
case "$verb" in
  exec)
    shift
    case "$1" in psql) shift 3; exec psql "$@" ;; *) exec "$@" ;; esac ;;
  logs) exec tail --lines 100 "$LOG_FILE" ;;
  up) touch "$UP_FILE"; while [ -e "$UP_FILE" ]; do sleep 0.1; done ;;
  *) echo "unknown: $verb" >&2; exit 2 ;;
esac
`;
