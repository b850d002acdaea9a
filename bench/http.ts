import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import autocannon from "autocannon";

const variants = ["bare", "typed", "typed-304", "typed-exporting"] as const;
type Variant = (typeof variants)[number];

interface Measured {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
}

const rounds = 3;
const secondsPerRound = 4;
const connections = 32;
const etag = '"AAAAAAAAAAAAAAAAAAAAAA"';

export const bench = {
  name: "http",
  description: "A typed route with credentials, limits, parsing and the request log against bare Express 5.",
  run,
};

/** Alternates the variants, each in a process of its own, so that a slow moment of the machine meets all of them. */
async function run() {
  const samples = new Map<Variant, Measured[]>(variants.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round++) {
    for (const variant of variants) samples.get(variant)?.push(await measure(variant));
  }
  const best = (variant: Variant) => Math.max(...(samples.get(variant) ?? []).map((one) => one.requestsPerSecond));
  const rows = variants.map((variant) => ({
    variant,
    requestsPerSecond: Math.round(best(variant)),
    p99Ms: Math.min(...(samples.get(variant) ?? []).map((one) => one.p99Ms)),
    ofBare: Math.round((best(variant) / best("bare")) * 1000) / 1000,
  }));
  const ratio = (variant: Variant) => rows.find((row) => row.variant === variant)?.ofBare ?? 0;
  return {
    name: bench.name,
    rows,
    targets: [
      { what: "typed route, of bare Express", wanted: 0.55, measured: ratio("typed"), met: ratio("typed") >= 0.55 },
      { what: "304, of bare Express", wanted: 0.6, measured: ratio("typed-304"), met: ratio("typed-304") >= 0.6 },
    ],
  };
}

async function measure(variant: Variant): Promise<Measured> {
  const server = fork(fileURLToPath(new URL("./http-server.ts", import.meta.url)), [variant, etag], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  try {
    const url = await addressOf(server);
    const headers = {
      authorization: "Bearer bench",
      accept: "application/json",
      ...(variant === "typed-304" ? { "if-none-match": etag } : {}),
    };
    await autocannon({ url, connections, duration: 2, headers });
    const result = await autocannon({ url, connections, duration: secondsPerRound, headers });
    if (result.errors > 0 || (variant !== "typed-304" && result.non2xx > 0))
      throw new Error(`${variant} failed requests`);
    return { requestsPerSecond: result.requests.average, p99Ms: result.latency.p99 };
  } finally {
    server.kill();
    await once(server, "exit");
  }
}

async function addressOf(server: ChildProcess): Promise<string> {
  const [message] = (await once(server, "message")) as [{ url: string }];
  return message.url;
}
