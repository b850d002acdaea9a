import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Reply } from "../http.ts";
import { startEmbeddedLedger } from "../systems/embedded.ts";
import type { LedgerSystem } from "../systems/ledger-system.ts";

type Flushed = "wal" | "blob";

export interface TracedSystem {
  readonly system: LedgerSystem;
  /** Sends a request and returns the flushes to disk before its answer. */
  flushesBefore(send: () => Promise<Reply | null>): Promise<{ status: number | null; flushed: Flushed[] }>;
  close(): Promise<void>;
}

/** The calls that flush a file, and those that send an answer. */
const calls = "fsync,fdatasync,write,writev";
const answerOf = (status: number | null) => new RegExp(`\\b(?:write|writev)\\(.*"HTTP/1\\.1 ${status}`);
const waitMs = 60_000;

/** The embedded system with all of its processes under strace, which sees each kernel call and names its file. */
export async function startTraced(issuer: string): Promise<TracedSystem> {
  const system = await startEmbeddedLedger(issuer);
  const trace = join(system.stagingFolder, "..", "trace");
  const pids = [...system.instances.map(({ pid }) => pid), ...(await serverPids(system, "true"))];
  const attached = pids.flatMap((pid) => ["-p", String(pid)]);
  const options = ["-f", "-y", "-s", "24", "-e", `trace=${calls}`, "-o", trace];
  const tracer = spawn("strace", [...options, ...attached], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  tracer.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  tracer.once("error", (error) => {
    said += `${error.message}: apt-get install -y strace`;
  });
  const linesFrom = async (place: number) => (await readFile(trace, "utf8").catch(() => "")).slice(place).split("\n");
  await until(
    () => pids.every((pid) => said.includes(`Process ${pid} attached`)),
    () => `strace attaches: ${said}`,
  );
  return {
    system,
    async flushesBefore(send) {
      const place = (await readFile(trace, "utf8").catch(() => "")).length;
      const reply = await send();
      const answer = answerOf(reply?.status ?? null);
      const isWritten = async () => (await linesFrom(place)).some((line) => answer.test(line));
      await until(isWritten, () => "the trace shows the answer");
      const background = await serverPids(system, "backend_type <> 'client backend'");
      return { status: reply?.status ?? null, flushed: flushesIn(await linesFrom(place), new Set(background), answer) };
    },
    close: async () => {
      const ended = new Promise((resolve) => tracer.once("close", resolve));
      tracer.kill("SIGTERM");
      await ended;
      await system.close();
    },
  };
}

/** The server and its matching processes. */
async function serverPids({ query }: LedgerSystem, condition: string): Promise<number[]> {
  const rows = await query(
    "postgres",
    `select pid from pg_stat_activity where pid <> pg_backend_pid() and ${condition}
     union select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int`,
  );
  return rows.map(({ pid }) => pid);
}

/** Lists the flushes whose start and end precede the answer; for the WAL only those of the committing session. */
function flushesIn(lines: readonly string[], background: ReadonlySet<number>, answer: RegExp): Flushed[] {
  const flushed = new Set<Flushed>();
  const unfinished = new Map<string, Flushed>();
  // The last one: services in this process answer each other earlier.
  const end = lines.findLastIndex((line) => answer.test(line));
  for (const line of lines.slice(0, end)) {
    const [, pid = "", call = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (background.has(Number(pid))) continue;
    const [, path] = /^f(?:data)?sync\(\d+<([^>]*)>/.exec(call) ?? [];
    const what = path?.includes("/pg_wal/") ? "wal" : path?.includes("/blobs/") ? "blob" : null;
    if (what !== null && call.includes("<unfinished")) unfinished.set(pid, what);
    else if (what !== null && call.endsWith("= 0")) flushed.add(what);
    const earlier = unfinished.get(pid);
    if (earlier && /^<\.\.\. f(?:data)?sync resumed>.*= 0$/.test(call)) flushed.add(earlier);
  }
  return [...flushed];
}

async function until(check: () => boolean | Promise<boolean>, what: () => string): Promise<void> {
  const giveUpAt = performance.now() + waitMs;
  while (!(await check())) {
    if (performance.now() > giveUpAt) throw new Error(`not within ${waitMs} ms: ${what()}`);
    await sleep(50);
  }
}
