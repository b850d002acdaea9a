import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";
import { least } from "./history.ts";

const variants = ["bare", "typed", "typed-304", "typed-exporting"] as const;
type Variant = (typeof variants)[number];

interface Sample {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Processor time of the server alone: comparable even on a busy machine. */
  readonly cpuMicrosPerRequest: number;
}

const rounds = 5;
const warmUpSeconds = 2;
const measuredSeconds = 3;
const connections = 32;
const etag = '"AAAAAAAAAAAAAAAAAAAAAA"';

/**
 * Measures all variants one after the other in every round, each in a process of its own, and compares them with the
 * bare route of that round; the median over the rounds is reported.
 */
export async function run() {
  const samples: Record<Variant, Sample>[] = [];
  for (let round = 0; round < rounds; round++) samples.push(await measureRound());
  const rows = variants.map((variant) => ({
    variant,
    requestsPerSecond: Math.round(median(samples.map((sample) => sample[variant].requestsPerSecond))),
    p99Ms: median(samples.map((sample) => sample[variant].p99Ms)),
    cpuMicrosPerRequest: Math.round(median(samples.map((sample) => sample[variant].cpuMicrosPerRequest))),
    ofBare: rounded(median(samples.map(({ bare, [variant]: own }) => own.requestsPerSecond / bare.requestsPerSecond))),
    ofBareByCpu: rounded(
      median(samples.map(({ bare, [variant]: own }) => bare.cpuMicrosPerRequest / own.cpuMicrosPerRequest)),
    ),
  }));
  const of = (variant: Variant) => rows.find((row) => row.variant === variant);
  const bare = `bare Express ${of("bare")?.requestsPerSecond}/s`;
  const share = (figure: string, variant: Variant, wanted: number) =>
    least(figure, wanted, of(variant)?.ofBare ?? 0, "", bare);
  return {
    rows,
    figures: [
      share("typed route, share of bare Express", "typed", 0.55),
      share("304, share of bare Express", "typed-304", 0.6),
    ],
  };
}

async function measureRound(): Promise<Record<Variant, Sample>> {
  return {
    bare: await measure("bare"),
    typed: await measure("typed"),
    "typed-304": await measure("typed-304"),
    "typed-exporting": await measure("typed-exporting"),
  };
}

async function measure(variant: Variant): Promise<Sample> {
  const server = fork(fileURLToPath(new URL("./http-server.ts", import.meta.url)), [variant, etag], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  try {
    const { url } = await ask<{ url: string }>(server, "url");
    const expectsBody = variant !== "typed-304";
    const headers = {
      authorization: "Bearer bench",
      accept: "application/json",
      ...(expectsBody ? {} : { "if-none-match": etag }),
    };
    await autocannon({ url, connections, duration: warmUpSeconds, headers });
    const before = await ask<{ cpuMicros: number }>(server, "cpu");
    const result = await autocannon({ url, connections, duration: measuredSeconds, headers });
    const after = await ask<{ cpuMicros: number }>(server, "cpu");
    if (result.errors > 0 || (expectsBody && result.non2xx > 0)) throw new Error(`${variant} failed requests`);
    return {
      requestsPerSecond: result.requests.average,
      p99Ms: result.latency.p99,
      cpuMicrosPerRequest: (after.cpuMicros - before.cpuMicros) / result.requests.total,
    };
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

async function ask<Answer>(server: ChildProcess, question: "url" | "cpu"): Promise<Answer> {
  const answered = once(server, "message");
  server.send(question);
  const [answer] = (await answered) as [Answer];
  return answer;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

const rounded = (ratio: number): number => Math.round(ratio * 1000) / 1000;
