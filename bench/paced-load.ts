import { Agent, request as send } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

export interface PacedRequest {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface PacedLoad {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
  readonly next: () => PacedRequest;
}

/**
 * Sends requests at even distances, each at its own moment whatever became of the earlier ones, and gives the
 * milliseconds from that moment to the end of the answer: a request that had to wait its turn has waited.
 */
export async function pacedLoad({ url, perSecond, seconds, connections, next }: PacedLoad): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const answers: Promise<number>[] = [];
  const startedMs = performance.now();
  const dueMs = (index: number) => startedMs + (index * 1000) / perSecond;
  while (answers.length < perSecond * seconds) {
    while (dueMs(answers.length) <= performance.now()) answers.push(timed(agent, url, next(), dueMs(answers.length)));
    await sleep(1);
  }
  const latenciesMs = await Promise.all(answers);
  agent.destroy();
  return latenciesMs;
}

function timed(agent: Agent, url: string, { body, ...options }: PacedRequest, dueMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const request = send(url, { ...options, agent }, (response) => {
    if ((response.statusCode ?? 500) >= 400) reject(new Error(`answered ${response.statusCode}`));
    response.on("error", reject).on("end", () => resolve(performance.now() - dueMs));
    response.resume();
  });
  request.on("error", reject).end(body);
  return promise;
}
