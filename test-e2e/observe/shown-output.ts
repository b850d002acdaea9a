import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { environment } from "@signalbox/config";
import { repositoryFolder } from "@signalbox/infra/engines/engine-folders.ts";
import type { Sample } from "./start-prometheus.ts";

const page = join(repositoryFolder, "docs/runbooks.md");
const block = /(?<=^While it was on\b[^`]*```text\n)[\s\S]*?(?=```$)/m;

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
