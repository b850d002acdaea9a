/**
 * `npm run incidents`: plants an incident on the small deployment, as local processes with a Prometheus, waits until its
 * alert fires, and mends it by the commands of the alert's runbook as they stand. Writes the minutes to
 * docs/reference/reliability.md. `-- <part of a name>` plays those alone. It fills a disk, so it needs root.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createOidcIssuer, eventually } from "@signalbox/testing";
import { writeReliability } from "../ledger/report/reliability-page.ts";
import { appendIncident } from "../ledger/report/results.ts";
import { startEmbeddedLedger } from "../ledger/systems/embedded.ts";
import { startPrometheus } from "../observe/start-prometheus.ts";
import { hurriedRules } from "./hurried-rules.ts";
import { type Incident, incidents, type Place } from "./incidents.ts";
import { commandsOf, openRunbookShell } from "./runbook-shell.ts";
import { startNodeExporter } from "./start-node-exporter.ts";

const waits = { timeoutMs: 90_000 };
const print = (line: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

await using opened = new AsyncDisposableStack();
const issuer = await createOidcIssuer();
opened.defer(() => issuer.close());
const system = await startEmbeddedLedger(issuer.issuer);
opened.defer(() => system.close());
const place = await openPlace();
const words = process.argv.slice(2);
const chosen = incidents.filter(({ name }) => words.every((word) => name.includes(word)));
for (const incident of chosen) await play(incident);
await writeReliability();

async function openPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-incidents-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const [one] = system.instances;
  const databaseUrl = await system.databaseUrl("postgres");
  const [logFile, upFile] = [join(folder, "log"), join(folder, "up")];
  const { dataDirectory } = system;
  const shell = await openRunbookShell({
    folder,
    baseUrl: system.baseUrl,
    dataDirectory,
    databaseUrl,
    logFile,
    upFile,
  });
  const settings: Record<string, string> = {};
  const starting = setInterval(async () => {
    await writeFile(logFile, one?.output ?? "");
    if (!existsSync(upFile) || one?.isRunning) return;
    clearInterval(starting);
    await one?.start(settings);
    await rm(upFile);
  }, 200);
  opened.defer(async () => clearInterval(starting));
  return { system, shell, settings };
}

async function play({ name, alert, plant, mend }: Incident): Promise<void> {
  await using own = new AsyncDisposableStack();
  const disk = system.databaseDisk;
  const node = disk === null ? null : await startNodeExporter(disk);
  if (node !== null) own.defer(() => node.close());
  const managementUrl = system.instances[0]?.program.managementUrl ?? "";
  const prometheus = await startPrometheus(new Map([["signalbox", managementUrl]]), node ? [node.job] : [], {
    rules: hurriedRules(alert),
    everySeconds: 1,
  });
  own.defer(() => prometheus.close());
  const firing = async () => (await prometheus.alerts()).find(({ labels }) => labels.alertname === alert) ?? null;
  const isScraped = async () => (await prometheus.query('up{job="signalbox"} == 1')).length > 0;
  await eventually(isScraped, { ...waits, message: "the system is scraped" });
  if ((await firing()) !== null) throw new Error(`${alert} fires before anything went wrong`);
  print(`${name}: planted`);
  const plantedAt = performance.now();
  await plant(place);
  const { annotations } = await eventually(firing, { ...waits, message: `${alert} fires` });
  const firedAt = performance.now();
  print(`${alert}: ${annotations.summary} ${annotations.runbook_url}`);
  const done = await mend(place, await commandsOf(alert));
  const mendedAt = performance.now();
  print(done);
  await eventually(async () => (await firing()) === null, { ...waits, message: `${alert} ends` });
  const [toAlertMs, toMendMs, toEndMs] = [firedAt - plantedAt, mendedAt - firedAt, performance.now() - mendedAt];
  await appendIncident({ incident: name, alert, done, toAlertMs, toMendMs, toEndMs });
  print(`${alert} ended`);
}
