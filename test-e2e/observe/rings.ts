import { setTimeout as sleep } from "node:timers/promises";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { slos } from "@signalbox/infra/observe/alerts/slos.ts";
import { eventually } from "@signalbox/testing";
import type { RunningPrometheus, Sample } from "./start-prometheus.ts";

/** Two scrapes fall into it. */
const window = "12s";
const pauseMs = 1_000;
const patience = { timeoutMs: 120_000 };

interface Rung<T> {
  readonly result: T;
  /** What the alert's expression gave when it told most. */
  readonly told: readonly Sample[];
}

/** Does the work and sees the alert become true by it, and false after. How long it has to hold is left out. */
export async function rings<T>(prometheus: RunningPrometheus, name: string, work: () => Promise<T>): Promise<Rung<T>> {
  const expression = expressionOf(name);
  let told: readonly Sample[] = [];
  const holds = async () => {
    const samples = await prometheus.query(expression);
    if (samples.length > told.length) told = samples;
    return samples.length > 0;
  };
  const ended = new AbortController();
  const watching = watch(holds, ended.signal);
  const rang = eventually(holds, { ...patience, message: `${name} rings` });
  rang.catch(() => {}); // told below, after the work
  const result = await work().finally(() => ended.abort());
  await rang;
  await watching;
  await eventually(async () => !(await holds()), { ...patience, message: `${name} falls silent` });
  return { result, told };
}

/** More services notice than the first one. */
async function watch(look: () => Promise<unknown>, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    await look().catch(() => {});
    await sleep(pauseMs, undefined, { signal: ended }).catch(() => {});
  }
}

/** Over a short window: minutes of a month's budget are not what a test waits for. */
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
