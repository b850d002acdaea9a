import { eventually } from "@signalbox/testing";
import pg from "pg";
import { fillDisk, loseBroker } from "../ledger/faults/machine-faults.ts";
import type { LedgerSystem, Mode } from "../ledger/systems/ledger-system.ts";
import type { Place } from "./places.ts";

/** Something that went wrong, and the person who follows the runbook of its alert. */
export interface Incident {
  readonly name: string;
  readonly alert: string;
  /** The deployment on which it can happen: the small one, or engines with three brokers. */
  readonly mode: Mode;
  plant(place: Place): Promise<void>;
  /** Follows the commands of the runbook, given in their order; says what was done. */
  mend(place: Place, commands: readonly string[]): Promise<string>;
}

const find = (commands: readonly string[], part: string): string => {
  const command = commands.find((one) => one.includes(part));
  if (command === undefined) throw new Error(`the runbook has no command with ${part}`);
  return command;
};

/** Makes an event, so that there is something to be behind. */
async function change({ baseUrl, administratorKey }: LedgerSystem): Promise<void> {
  const answer = await fetch(`${baseUrl}/api/account/`, {
    method: "PATCH",
    headers: { "x-api-key": administratorKey, "content-type": "application/json" },
    body: JSON.stringify({ display_name: crypto.randomUUID() }),
    signal: AbortSignal.timeout(5_000),
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`a change is answered by ${answer.status}`);
}

const lag: Incident = {
  name: "lag: a session that somebody left open holds what a consumer waits for",
  alert: "ConsumerLag",
  mode: "embedded",
  async plant({ system }) {
    const client = new pg.Client({ connectionString: await system.databaseUrl("signalbox_events") });
    const isOver = new Promise<void>((resolve) => client.once("end", resolve));
    client.on("error", () => {});
    await client.connect();
    await client.query("begin");
    await client.query("lock table signalbox.log_lease in exclusive mode");
    const changing = setInterval(() => void change(system).catch(() => {}), 500);
    void isOver.then(() => clearInterval(changing));
  },
  async mend({ shell }, commands) {
    // While the leases are locked the services cannot say; the next command of the page asks PostgreSQL itself.
    const groups = await shell.run(find(commands, "groups list")).catch(() => "");
    const blockers = await shell.run(find(commands, "pg_blocking_pids"));
    const pid = /^ +(\d+) \|/m.exec(blockers)?.[1] ?? "";
    if (pid === "") throw new Error(`no blocker is shown:\n${blockers}`);
    await shell.run(find(commands, "pg_terminate_backend"), { PID: pid });
    const behind = /^(\S+) {2}lag [1-9]/m.exec(groups)?.[1];
    const shown = behind === undefined ? "does not answer" : `shows ${behind} behind`;
    return `\`groups list\` ${shown}; the statement of the runbook shows the session that blocks, and it was ended`;
  },
};

const poison: Incident = {
  name: "poisoned message: one that no consumer can read, on each topic",
  alert: "DeadLetters",
  mode: "embedded",
  plant: ({ system }) => system.log.poison(),
  async mend({ shell }, commands) {
    const list = await shell.run(find(commands, "dead-letters list"));
    const ids = [...list.matchAll(/^\S+ {2}(\S+:\d+) /gm)].map(([, id = ""]) => id);
    if (ids.length === 0) throw new Error(`no dead letter is listed:\n${list}`);
    await shell.run(find(commands, "dead-letters show"), { ID: ids[0] as string });
    for (const ID of ids) await shell.run(find(commands, "dead-letters drop"), { ID, WHY: "unreadable" });
    return `\`dead-letters list\` shows ${ids.length} with their reason; one was read, all were dropped`;
  },
};

let freeDisk: () => Promise<void> = async () => {};
const fullDisk: Incident = {
  name: "full disk: the volume of PostgreSQL",
  alert: "DiskFull",
  mode: "embedded",
  async plant({ system }) {
    if (system.databaseDisk === null) throw new Error("a disk can be filled by root alone");
    freeDisk = await fillDisk(system.databaseDisk);
  },
  async mend({ shell }, commands) {
    const lines = await shell.run(find(commands, "logs --tail 100 postgres"));
    await freeDisk();
    const isNamed = /No space left on device/.test(lines)
      ? "names the full disk"
      : "does not name the disk, the alert does";
    return `the log ${isNamed}; what filled it was removed, and PostgreSQL went on by itself`;
  },
};

const badProperty: Incident = {
  name: "bad property: a start that is refused",
  alert: "ServiceDown",
  mode: "embedded",
  async plant({ system, settings }) {
    const [one] = system.instances;
    await one?.kill();
    settings.SIGNALBOX_LOG_LEVEL = "loud";
    await one?.launch(settings);
    await eventually(() => !one?.isRunning, { message: "the start is refused" });
  },
  async mend({ shell, settings }, commands) {
    const names = { SERVICE: "signalbox" };
    const lines = await shell.run(find(commands, "logs --tail 100"), names);
    const sentence = /^.*log\.level.*$/m.exec(lines)?.[0];
    if (sentence === undefined) throw new Error(`the log names no property:\n${lines.slice(-2_000)}`);
    delete settings.SIGNALBOX_LOG_LEVEL;
    await shell.run(find(commands, "up --detach"), names);
    return "the last lines name the property; it was removed, and the service started again";
  },
};

const lostBroker: Incident = {
  name: "lost broker: one of three ended, and its disk is gone",
  alert: "ReplicasOutOfSync",
  mode: "engines",
  async plant({ system }) {
    if (system.kafka === null) throw new Error("there is no broker to lose");
    await loseBroker(system.kafka);
  },
  async mend({ system, shell }, commands) {
    await eventually(() => change(system), { message: "writes are taken by two brokers" });
    const pods = await shell.run(find(commands, "get pods"));
    const away = pods.split("\n").filter((line) => / 0\/1 /.test(line));
    const [POD = ""] = away[0]?.split(" ") ?? [];
    if (away.length !== 1) throw new Error(`not one broker is away:\n${pods}`);
    await shell.run(find(commands, "logs --selector signalbox.engine=kafka"));
    await shell.run(find(commands, "delete-pod-and-pvc"), { POD });
    return `writes went on; \`kubectl get pods\` shows ${POD} pending, and it was given an empty disk, onto which it copied everything`;
  },
};

export const incidents: readonly Incident[] = [lag, poison, fullDisk, badProperty, lostBroker];
