import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { slos } from "@signalbox/infra/observe/alerts/slos.ts";
import { eventually } from "@signalbox/testing";
import type { RunningPrometheus } from "./start-prometheus.ts";

/** Two scrapes fall into it. */
const window = "12s";
const patience = { timeoutMs: 120_000 };

/** Does the work and sees the alert become true by it, and false after. How long it has to hold is left out. */
export async function rings<T>(prometheus: RunningPrometheus, name: string, work: () => Promise<T>): Promise<T> {
  const expression = expressionOf(name);
  const holds = async () => (await prometheus.query(expression)).length > 0;
  const rang = eventually(holds, { ...patience, message: `${name} rings` });
  rang.catch(() => {}); // told below, after the work
  const result = await work();
  await rang;
  await eventually(async () => !(await holds()), { ...patience, message: `${name} falls silent` });
  return result;
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
