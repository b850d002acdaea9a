/**
 * `npm run incidents`: plants an incident on local processes with a Prometheus, waits until its alert fires, and mends it by
 * the commands of the alert's runbook as they stand: those of the small deployment, or of Kubernetes where three brokers are
 * needed. Prints the rows of docs/reference/reliability.md. `-- <part of a name>` plays those alone. It fills a disk, so it
 * needs root.
 */
import { describeMissing, examine, tableOf, wantedPrograms } from "@signalbox/infra/engines/doctor.ts";
import { createOidcIssuer, eventually } from "@signalbox/testing";
import type { LedgerSystem, Mode } from "../ledger/systems/ledger-system.ts";
import { startPrometheus } from "../observe/start-prometheus.ts";
import { hurriedRules } from "./hurried-rules.ts";
import { type Incident, incidents } from "./incidents.ts";
import { openPlace, type Place } from "./places.ts";
import { commandsOf } from "./runbook-shell.ts";
import { nodeExporter, type StartedExporter, startKafkaExporter, startNodeExporter } from "./start-exporters.ts";

/** A broker with an empty disk starts, and copies everything, within this time. */
const waits = { timeoutMs: 180_000 };
const used: Readonly<Record<Mode, readonly string[]>> = {
  embedded: ["prometheus", "psql"],
  engines: ["prometheus", "java", "mvn", "go", "redis-server", "nginx"],
};
const print = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

const words = process.argv.slice(2);
const chosen = incidents.filter(({ name }) => words.every((word) => name.includes(word)));
process.exitCode = await main();

async function main(): Promise<number> {
  const names = new Set(chosen.flatMap(({ mode }) => used[mode]));
  const findings = await examine([nodeExporter, ...wantedPrograms.filter((one) => names.has(one.names[0] ?? ""))]);
  const missing = await describeMissing(findings);
  if (missing !== "" || chosen.length === 0) {
    const reason =
      missing === "" ? `No incident is called ${words.join(" ")}.` : `Install what is missing:\n${missing}`;
    process.stderr.write(`${tableOf(findings)}\n\nNothing was planted. ${reason}\n`);
    return 1;
  }
  await using opened = new AsyncDisposableStack();
  const issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  for (const mode of ["embedded", "engines"] as const) {
    const ofMode = chosen.filter((incident) => incident.mode === mode);
    if (ofMode.length === 0) continue;
    await using places = new AsyncDisposableStack();
    const place = await openPlace(places, mode, issuer.issuer);
    for (const incident of ofMode) await play(incident, place, findings[0]?.command ?? "");
  }
  return 0;
}

async function exportersOf({ kafka, databaseDisk }: LedgerSystem, disks: string): Promise<StartedExporter[]> {
  if (kafka !== null) return [await startKafkaExporter(kafka.addresses)];
  return databaseDisk === null ? [] : [await startNodeExporter(disks, databaseDisk)];
}

async function play({ name, alert, plant, mend, mode }: Incident, place: Place, disks: string): Promise<void> {
  await using own = new AsyncDisposableStack();
  const exporters = await exportersOf(place.system, disks);
  for (const exporter of exporters) own.defer(() => exporter.close());
  const { instances } = place.system;
  const prometheus = await startPrometheus(
    new Map(instances.map((one) => [one.name, one.program.managementUrl])),
    exporters.map(({ job }) => job),
    // Fourteen processes are scraped less often than one.
    { rules: hurriedRules(alert), everySeconds: mode === "embedded" ? 1 : 3 },
  );
  own.defer(() => prometheus.close());
  const firing = async () => (await prometheus.alerts()).find(({ labels }) => labels.alertname === alert) ?? null;
  const isScraped = async () => (await prometheus.query("up == 1")).length === instances.length + exporters.length;
  await eventually(isScraped, { ...waits, message: "the system is scraped" });
  await eventually(async () => (await firing()) === null, { ...waits, message: `${alert} is silent before` });
  print(`${name}: planted`);
  const plantedAt = performance.now();
  await plant(place);
  const { annotations } = await eventually(firing, { ...waits, message: `${alert} fires` });
  const firedAt = performance.now();
  print(`${alert}: ${annotations.summary} ${annotations.runbook_url}`);
  const done = await mend(place, await commandsOf(alert, mode));
  const mendedAt = performance.now();
  print(done);
  await eventually(async () => (await firing()) === null, { ...waits, message: `${alert} ends` });
  const times = [firedAt - plantedAt, mendedAt - firedAt, performance.now() - mendedAt];
  const link = `[${alert}](../runbooks.md#${alert.toLowerCase()})`;
  print(`| ${[name, link, ...times.map(inSeconds), done].join(" | ")} |`);
}

const inSeconds = (milliseconds: number): string => `${Math.round(milliseconds / 1_000)} s`;
