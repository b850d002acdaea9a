import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import type { Alert } from "@signalbox/infra/observe/alerts/alert.ts";
import { alerts } from "@signalbox/infra/observe/alerts/alerts.ts";
import { slos } from "@signalbox/infra/observe/alerts/slos.ts";
import { environment } from "@signalbox/runtime";
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
export async function rings<T>(
  prometheus: RunningPrometheus,
  name: string,
  work: () => Promise<T>,
  severity?: Alert["severity"],
): Promise<Rang<T>> {
  const expression = expressionOf(name, severity);
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
function expressionOf(name: string, severity?: Alert["severity"]): string {
  const slo = slos.find(({ alert }) => alert === name);
  if (slo) {
    const over = (text: string) => text.replaceAll("$window", window);
    return `(${over(slo.bad)}) / ((${over(slo.all)}) > 0) > ${14.4 * (1 - slo.objective)}`;
  }
  const alert = alerts.find((one) => one.name === name && (severity ?? one.severity) === one.severity);
  if (!alert) throw new Error(`there is no alert ${name}`);
  return alert.expr.replaceAll(/\[\d+[mh]\]/g, `[${window}]`);
}

const page = join(repositoryFolder, "docs/runbooks.md");
const block = /(?<=^Output while firing\b[^`]*```text\n)[\s\S]*?(?=```$)/m;

/**
 * Compares the output in a runbook with the present result of an alert's expression: the labels must be equal. The
 * named services and the figures differ from run to run. With RECORD_OUTPUT=1 the present result is written to the
 * page.
 */
export async function isShown(alert: string, samples: readonly Sample[]): Promise<void> {
  const text = await readFile(page, "utf8");
  const section = text.split(/^(?=## )/m).find((one) => one.startsWith(`## ${alert}\n`)) ?? "";
  const shown = block.exec(section)?.[0] ?? assert.fail(`the section ${alert} shows no output`);
  const lines = samples.map(lineOf).toSorted();
  if (environment().RECORD_OUTPUT) {
    const recorded = section.replace(block, () => `${lines.join("\n")}\n`);
    return await writeFile(
      page,
      text.replace(section, () => recorded),
    );
  }
  const shapes = (of: readonly string[]) => [...new Set(of.map(shapeOf))].toSorted();
  assert.deepEqual(shapes(shown.trim().split("\n")), shapes(lines), `the section ${alert} shows its output`);
}

/** Formats a sample as Prometheus does, without the labels of this machine. */
function lineOf({ metric: { __name__: name = "", instance: _instance, ...labels }, value: [, value] }: Sample): string {
  const members = Object.entries(labels).map(([label, text]) => `${label}="${text}"`);
  return `${name}{${members.join(", ")}} ${Math.round(Number(value) * 1000) / 1000}`;
}

const shapeOf = (line: string): string => line.replaceAll(/"[^"]*"/g, '""').replace(/ \S+$/, "");
