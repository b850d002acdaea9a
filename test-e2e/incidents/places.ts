import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { engineNamed } from "@signalbox/infra/engines/engines.ts";
import { startEmbeddedLedger } from "../ledger/systems/embedded.ts";
import { startEnginesLedger } from "../ledger/systems/engines.ts";
import type { KafkaCluster, LedgerSystem, Mode } from "../ledger/systems/ledger-system.ts";
import { openRunbookShell, type RunbookShell } from "./runbook-shell.ts";

const lookMs = 200;

/** A running system with its runbooks at hand. */
export interface Place {
  readonly system: LedgerSystem;
  readonly shell: RunbookShell;
  /** Variables that `.env` adds to the environment of the next start. */
  readonly settings: Record<string, string>;
}

/** Starts what stands for the small deployment, or for a cluster with three brokers. */
export async function openPlace(opened: AsyncDisposableStack, mode: Mode, issuer: string): Promise<Place> {
  const system = await (mode === "embedded" ? startEmbeddedLedger : startEnginesLedger)(issuer);
  opened.defer(() => system.close());
  const folder = await mkdtemp(join(tmpdir(), "signalbox-incidents-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const settings: Record<string, string> = {};
  const { kafka } = system;
  const open = kafka === null ? openSmall(opened, system, folder, settings) : openCluster(opened, kafka, folder);
  return { system, settings, shell: await open };
}

/** Calls `look` again and again, one call at a time, until the stack is disposed of. */
function lookAgain(opened: AsyncDisposableStack, look: () => Promise<void>): void {
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      await look();
      await new Promise((resolve) => setTimeout(resolve, lookMs));
    }
  })();
  looking.catch(() => {}); // thrown when the stack is disposed of
  opened.defer(async () => {
    isOver = true;
    await looking;
  });
}

/** `docker` does to local processes what Docker does to containers. */
async function openSmall(
  opened: AsyncDisposableStack,
  system: LedgerSystem,
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<RunbookShell> {
  const [one] = system.instances;
  const [logFile, upFile] = [join(folder, "log"), join(folder, "up")];
  lookAgain(opened, async () => {
    await writeFile(logFile, one?.output ?? "");
    if (!existsSync(upFile)) return;
    if (!one?.isRunning) await one?.start(settings);
    await rm(upFile);
  });
  const { hostname, port, username, password } = new URL(await system.databaseUrl("postgres"));
  const tasks = `#!/bin/sh\nexec "${join(repositoryFolder, "infra/docker/signalbox-ops.sh")}" "$@"\n`;
  return await openRunbookShell(
    folder,
    { docker, "signalbox-ops": tasks },
    {
      OPERATIONS_URL: system.baseUrl,
      SIGNALBOX_EMBEDDED_DATA_DIRECTORY: system.dataDirectory,
      LOG_FILE: logFile,
      UP_FILE: upFile,
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: decodeURIComponent(username),
      PGPASSWORD: decodeURIComponent(password),
      PGDATABASE: "postgres",
    },
  );
}

/** `kubectl` shows brokers as pods, and does what Strimzi does when one is to be made anew with an empty disk. */
async function openCluster(opened: AsyncDisposableStack, kafka: KafkaCluster, folder: string): Promise<RunbookShell> {
  const [podsFile, replaceFile] = [join(folder, "pods"), join(folder, "replace")];
  const ports = kafka.addresses.map((address) => Number(address.split(":")[1]));
  const podOf = (index: number) => `signalbox-brokers-${index}`;
  const writePods = async () => {
    const answers = await Promise.all(ports.map((port) => engineNamed("kafka").answers(port)));
    const lines = answers.map((isUp, index) => `${podOf(index)}   ${isUp ? "1/1     Running" : "0/1     Pending"}\n`);
    await writeFile(podsFile, `NAME                  READY   STATUS\n${lines.join("")}`);
  };
  await writePods();
  lookAgain(opened, async () => {
    await writePods();
    if (!existsSync(replaceFile)) return;
    const pod = (await readFile(replaceFile, "utf8")).trim();
    await rm(replaceFile);
    await kafka.brokers[ports.findIndex((_, index) => podOf(index) === pod)]?.restart();
  });
  const logs = kafka.brokers.map((broker) => join(broker.folder, "kafka.log")).join(" ");
  return await openRunbookShell(folder, { kubectl }, { PODS_FILE: podsFile, REPLACE_FILE: replaceFile, LOGS: logs });
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

const kubectl = `#!/bin/sh
set -eu
case "$*" in
  "get pods --selector signalbox.engine=kafka") exec cat "$PODS_FILE" ;;
  "logs --selector signalbox.engine=kafka --tail 100") exec tail --quiet --lines 100 $LOGS ;;
  "annotate pod "*" strimzi.io/delete-pod-and-pvc=true")
    grep -q "^$3 " "$PODS_FILE" || { echo "pods \\"$3\\" not found" >&2; exit 1; }
    echo "$3" > "$REPLACE_FILE"
    echo "pod/$3 annotated" ;;
  *) echo "unknown: $*" >&2; exit 2 ;;
esac
`;
