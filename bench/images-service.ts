import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { topics } from "@signalbox/contracts";
import { openEventLog } from "@signalbox/events";
import { processTree } from "@signalbox/infra/engines/processes.ts";
import { environment } from "@signalbox/runtime";
import { eventually, freePort, startAccountStandIn, type TestPerson, testDatabase } from "@signalbox/testing";
import { benchParts } from "./bench-parts.ts";

const script = fileURLToPath(new URL("../services/images/src/main.ts", import.meta.url));

/** The images service in a process of its own, on files and PostgreSQL. */
export interface ImagesService {
  readonly url: string;
  readonly databaseUrl: string;
  /** Returns the processor time used by it and its children, in milliseconds. */
  cpuMs(): Promise<number>;
  /** Returns the resident memory of it and its children, in MiB. */
  residentMiB(): Promise<number>;
  /**
   * Returns the bytes that it and its children read and wrote by system calls, including those of connections, but not
   * of mapped files.
   */
  transferred(): Promise<Transferred>;
  close(): Promise<void>;
}

interface Transferred {
  readonly read: number;
  readonly written: number;
}

/** Uploads a file as an image and returns its id. */
export async function uploadImage(
  { url }: Pick<ImagesService, "url">,
  who: TestPerson,
  file: Buffer,
  visibility = "private",
): Promise<string> {
  const form = new FormData();
  form.append("visibility", visibility);
  form.append("file", new Blob([new Uint8Array(file)]), "photo.jpg");
  const answer = await fetch(`${url}/images`, { method: "POST", headers: who.headers, body: form });
  if (answer.status !== 201) throw new Error(`an upload was answered ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { id: string }).id;
}

export async function startImagesService(): Promise<ImagesService> {
  await using opened = new AsyncDisposableStack();
  const [database, events, account] = await Promise.all([testDatabase(), testDatabase(), startAccountStandIn()]);
  for (const part of [database, events, account]) opened.defer(() => part.close());
  const folder = await mkdtemp(join(tmpdir(), "signalbox-bench-images-"));
  opened.defer(() => rm(folder, { recursive: true, force: true }));
  const eventsUrl = events.url.replace(/^postgres(ql)?:/, "postgres:");
  const log = await openEventLog(eventsUrl, { clientId: "bench", ...benchParts() });
  await log.ensureTopics(topics);
  await log.close();

  const ports = { http: await freePort(), internal: await freePort(), management: await freePort() };
  const service = start({
    "database.url": database.url,
    "events.url": eventsUrl,
    "blobs.url": `file:${folder}`,
    "account.internal-url": account.url,
    "internal.token": randomBytes(32).toString("base64url"),
    "secrets.keys": `bench:${randomBytes(32).toString("base64")}`,
    "http.port": String(ports.http),
    "internal.port": String(ports.internal),
    "management.server.port": String(ports.management),
    // The bench measures the work, not the rate limit.
    "http.rate-limit.credential.requests": "1000000",
    "http.rate-limit.credential.burst": "1000000",
    "http.rate-limit.account.requests": "1000000",
    "images.public.requests": "1000000",
  });
  opened.defer(() => stop(service));
  const ready = `http://127.0.0.1:${ports.management}/management/health/ready`;
  const isReady = () => fetch(ready).then(({ ok }) => ok);
  await eventually(isReady, { timeoutMs: 60_000, message: "the service is ready" });
  const pid = service.pid as number;
  const closes = opened.move();
  return {
    url: `http://127.0.0.1:${ports.http}`,
    databaseUrl: database.url,
    cpuMs: async () => sum(await Promise.all((await processTree(pid)).map(cpuMsOf))),
    residentMiB: async () => sum(await Promise.all((await processTree(pid)).map(residentMiBOf))),
    async transferred() {
      const all = await Promise.all((await processTree(pid)).map(transferredBy));
      return { read: sum(all.map(({ read }) => read)), written: sum(all.map(({ written }) => written)) };
    },
    close: () => closes.disposeAsync(),
  };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** Reads user and system time (proc(5), stat) in hundredths of a second, its own and those of ended children. */
export async function cpuMsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return 10 * sum([11, 12, 13, 14].map((at) => Number(fields[at] ?? 0)));
}

async function residentMiBOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Rss: +(\d+)/m.exec(text)?.[1] ?? 0) / 1024;
}

/** Reads the bytes read and written by system calls (proc(5), io). */
async function transferredBy(pid: number): Promise<Transferred> {
  const text = await readFile(`/proc/${pid}/io`, "utf8").catch(() => "");
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, "m").exec(text)?.[1] ?? 0);
  return { read: bytes("rchar"), written: bytes("wchar") };
}

function start(properties: Readonly<Record<string, string>>): ChildProcess {
  const variable = (name: string) => `SIGNALBOX_${name.toUpperCase().replace(/[^A-Z0-9]/g, "_")}`;
  const own = Object.fromEntries(Object.entries(properties).map(([name, value]) => [variable(name), value]));
  return spawn(process.execPath, [script], {
    env: { ...environment(), ...own },
    stdio: ["ignore", "ignore", "inherit"],
  });
}

async function stop(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null) return;
  const exited = once(service, "exit");
  service.kill("SIGTERM");
  await exited;
}
