import type { Health, HealthCheck, Verdict } from "@signalbox/runtime";

/** Collects what a service says about its health, without a server before it. */
export function createTestHealth(): Health {
  const steps = new Map<string, boolean>();
  const checks = { ready: new Map<string, HealthCheck>(), live: new Map<string, HealthCheck>() };
  return {
    startup: (name) => {
      steps.set(name, false);
      return { done: () => void steps.set(name, true) };
    },
    ready: (name, check) => void checks.ready.set(name, check),
    live: (name, check) => void checks.live.set(name, check),
    report: async () => {
      const startup = new Map([...steps].map(([name, done]) => [name, () => (done ? null : "not done yet")]));
      const [started, ready, live] = await Promise.all([verdict(startup), verdict(checks.ready), verdict(checks.live)]);
      return { startup: started, ready, live };
    },
  };
}

async function verdict(checks: ReadonlyMap<string, HealthCheck>): Promise<Verdict> {
  const results: Record<string, { status: "up" | "down"; reason?: string }> = {};
  for (const [name, check] of checks) {
    const reason = await check();
    results[name] = reason === null ? { status: "up" } : { status: "down", reason };
  }
  return { status: Object.values(results).every(({ status }) => status === "up") ? "up" : "down", checks: results };
}
