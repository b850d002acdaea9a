import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@signalbox/core";
import { percentile, rounded } from "./bench-parts.ts";

interface PacedLoad {
  readonly perSecond: number;
  readonly seconds: number;
  /** Sends one request; the count of those before it is its number. */
  send(agent: Agent, number: number): Promise<void>;
}

export interface PacedResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends requests at the times when they are due, whether or not earlier ones were answered, and measures from when each
 * was due: a server that stalls is charged for everybody who would have come meanwhile.
 */
export async function pacedLoad({ perSecond, seconds, send }: PacedLoad): Promise<PacedResult> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const latencies: number[] = [];
  const underWay: Promise<void>[] = [];
  const startedMs = systemClock.steadyMs();
  const count = Math.round(perSecond * seconds);
  for (let number = 0; number < count; ) {
    const elapsedMs = systemClock.steadyMs() - startedMs;
    for (; number < count && (number / perSecond) * 1000 <= elapsedMs; number++) {
      const dueMs = startedMs + (number / perSecond) * 1000;
      underWay.push(send(agent, number).then(() => void latencies.push(systemClock.steadyMs() - dueMs)));
    }
    await sleep(1);
  }
  await Promise.all(underWay);
  const actual = count / ((systemClock.steadyMs() - startedMs) / 1000);
  agent.destroy();
  return {
    perSecond: Math.round(actual),
    p50Ms: rounded(percentile(latencies, 0.5)),
    p99Ms: rounded(percentile(latencies, 0.99)),
  };
}

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly wanted: number;
}

/** Sends a request and reads its answer to the end. @throws Error for another status than the one wanted. */
export function exchange(agent: Agent, url: string, { method, headers, body, wanted }: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers: { ...headers }, agent }, (response) => {
      response.resume();
      response.once("end", () => {
        if (response.statusCode === wanted) resolve();
        else reject(new Error(`${method} ${url} answered ${response.statusCode}`));
      });
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}
