import { setTimeout as sleep } from "node:timers/promises";
import type { History } from "../history.ts";
import { createHttp, type Reply } from "../http.ts";
import type { LedgerSystem } from "../systems/ledger-system.ts";
import { readsOf, servedBy } from "./reads.ts";

/** Fourteen processes are probed less often than one: their answers take time from their work. */
const everyMs = { embedded: 400, engines: 1_000 };
/** Older keys are dropped: each round of probes asks every service of every instance. */
const keptMax = 6;

interface RevokedKey {
  readonly key: string;
  readonly secret: string;
  /** Time of the answer to the revocation. */
  readonly at: number;
  /** Time that this process had not been given by then. */
  readonly lateMs: number;
}

/**
 * Probes every service of every instance with revoked keys, one key after another. Keys of earlier rounds stay, so that
 * a later fault cannot revive one unnoticed.
 */
export function createProber(system: LedgerSystem) {
  let kept: RevokedKey[] = [];
  let seen = 0;
  let lateMs = 0;

  const collect = (history: History) => {
    for (const { op, type, t, value } of history.entries.slice(seen)) {
      if (op === "revoke-key" && type === "ok") kept.push({ key: value?.key, secret: value?.secret, at: t, lateMs });
    }
    seen = history.entries.length;
    kept = kept.slice(-keptMax);
  };

  return {
    forget: () => {
      kept = [];
    },
    async run(history: History, stopped: AbortSignal): Promise<void> {
      seen = 0;
      for (let turn = 0; !stopped.aborted; turn++) {
        collect(history);
        const key = kept[turn % Math.max(1, kept.length)];
        const targets = system.instances.flatMap((instance) =>
          servedBy(instance.program.service).map((service) => ({ instance, service })),
        );
        if (key) await Promise.all(targets.map((target) => probe(history, key, target, lateMs)));
        const pauseMs = everyMs[system.mode];
        const wakeAt = performance.now() + pauseMs;
        await sleep(pauseMs);
        lateMs += performance.now() - wakeAt;
      }
    },
  };
}

async function probe(
  history: History,
  { key, secret, at, lateMs }: RevokedKey,
  { instance, service }: { instance: LedgerSystem["instances"][number]; service: string },
  lateNowMs: number,
): Promise<void> {
  const [path, call] = readsOf[service]?.attempt ?? ["/", {}];
  const asked = { key, service, instance: instance.name, revokedAt: at, lateMs: lateNowMs - lateMs };
  const done = history.begin("prober", "probe", asked);
  const reply = await createHttp(instance.program.url, secret)(path, { ...call, timeoutMs: 5_000 });
  done("ok", { verdict: verdictOf(reply) });
}

/** An outage is no verdict about the caller. */
function verdictOf(reply: Reply | null): "let in" | "refused" | "nothing" {
  if (reply === null || reply.status >= 500 || reply.status === 429) return "nothing";
  const codes: string[] = (reply.json?.errors ?? []).map((error: { extensions?: { code?: string } }) =>
    String(error.extensions?.code),
  );
  if (reply.status === 401 || codes.includes("UNAUTHENTICATED")) return "refused";
  return codes.some((code) => ["UNAVAILABLE", "INTERNAL_SERVER_ERROR", "TIMEOUT"].includes(code))
    ? "nothing"
    : "let in";
}
