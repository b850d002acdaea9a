import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { enginesFolder } from "@signalbox/infra/engines/engine-folders.ts";
import { fetchOnce } from "@signalbox/infra/engines/fetch-once.ts";
import { copyGoModule } from "@signalbox/infra/engines/test/go-programs.ts";
import { environment } from "@signalbox/runtime";

const run = promisify(execFile);
const version = "2.21.0";
const folder = join(enginesFolder, `keda-${version}`);

/**
 * The sources of the package of scalers that are kept: each of the others brings the clients of its own servers. The one of
 * Azure declares a constant of all.
 */
const keptScalers = ["scaler.go", "kafka_scaler.go", "prometheus_scaler.go", "azure_queue_scaler.go"];

/**
 * Builds KEDA's scalers of Kafka and Prometheus as they are, with the modules that KEDA locks. Cold it takes almost
 * five minutes of processor time, because the sign-ins of three clouds belong to them.
 */
async function fetchScalers(): Promise<string> {
  await fetchOnce(folder, async (target) => {
    const source = join(target, "source");
    await copyGoModule(source, `github.com/kedacore/keda/v2@v${version}`);
    const scalers = join(source, "pkg/scalers");
    for (const entry of await readdir(scalers, { withFileTypes: true }))
      if (entry.isFile() && !keptScalers.includes(entry.name)) await rm(join(scalers, entry.name));
    await cp(join(import.meta.dirname, "keda"), join(source, "cmd/ask"), { recursive: true });
    await run("go", ["build", "-o", join(target, "ask"), "./cmd/ask"], { cwd: source, env: environment() });
    await rm(source, { recursive: true });
  });
  return join(folder, "ask");
}

/** A trigger of a ScaledObject, with the parameters that its TriggerAuthentication resolves to. */
export interface KedaTrigger {
  readonly type: string;
  readonly metricType?: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly authParams?: Readonly<Record<string, string>>;
}

/** The answer of a scaler to KEDA; with an error, its failure is counted for the fallback. */
export interface Measure {
  readonly value: number;
  readonly target: number;
  readonly isActive: boolean;
  readonly error: string;
}

export interface KedaScalers {
  /** Asks each trigger once, as KEDA does at its interval. */
  poll(): Promise<readonly Measure[]>;
  close(): Promise<void>;
}

/** Starts KEDA's scalers for these triggers. They remember the last poll, as they do in KEDA. */
export async function startKedaScalers(triggers: readonly KedaTrigger[]): Promise<KedaScalers> {
  const child = spawn(await fetchScalers(), [], { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(triggers)}\n`);
  return {
    async poll() {
      child.stdin.write("poll\n");
      const { value, done } = await answers.next();
      if (done) throw new Error("KEDA's scalers have ended.");
      return JSON.parse(value);
    },
    async close() {
      child.stdin.end();
      await exited;
    },
  };
}
