import { setTimeout as sleep } from "node:timers/promises";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { slos } from "@signalbox/infra/observe/alerts/slos.ts";
import { eventually } from "@signalbox/testing";
import type { RunningPrometheus, Sample } from "./start-prometheus.ts";

/** Contains two scrapes. */
const window = "12s";
const pauseMs = 1_000;
const timeout = { timeoutMs: 120_000 };

interface Rang<T> {
  readonly result: T;
  /** The largest result of the alert's expression. */
  readonly samples: readonly Sample[];
}

/**
 * Runs the work and checks that the alert's expression becomes true by it, and false after it. The required duration is
 * omitted.
 */
export async function rings<T>(prometheus: RunningPrometheus, name: string, work: () => Promise<T>): Promise<Rang<T>> {
  const expression = expressionOf(name);
  let samples: readonly Sample[] = [];
  const holds = async () => {
    const found = await prometheus.query(expression);
    if (found.length > samples.length) samples = found;
    return found.length > 0;
  };
  const ended = new AbortController();
  const watching = watch(holds, ended.signal);
  const rang = eventually(holds, { ...timeout, message: `${name} rings` });
  rang.catch(() => {}); // evaluated below, after the work
  const result = await work().finally(() => ended.abort());
  await rang;
  await watching;
  await eventually(async () => !(await holds()), { ...timeout, message: `${name} falls silent` });
  return { result, samples };
}

/** Continues after the first service has noticed, because others may follow. */
async function watch(look: () => Promise<unknown>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await look().catch(() => {});
    await sleep(pauseMs, undefined, { signal: ended }).catch(() => {});
  }
}

/** Uses a short window: a test does not wait for minutes of a month's budget. */
function expressionOf(name: string): string {
  const slo = slos.find(({ alert }) => alert === name);
  if (slo) {
    const over = (text: string) => text.replaceAll("$window", window);
    return `(${over(slo.bad)}) / ((${over(slo.all)}) > 0) > ${14.4 * (1 - slo.objective)}`;
  }
  const alert = alerts.find((one) => one.name === name);
  if (!alert) throw new Error(`there is no alert ${name}`);
  return alert.expr.replaceAll(/\[\d+[mh]\]/g, `[${window}]`);
}
