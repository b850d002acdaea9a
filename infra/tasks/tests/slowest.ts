import { readFile } from "node:fs/promises";
import type { FileTimes } from "./run-files.ts";

/** Describes where the time of a run went: the slowest files, and all of them together. */
export async function slowestFiles(timesFile: string, count = 30): Promise<string> {
  const lines = (await readFile(timesFile, "utf8")).split("\n").filter((line) => line !== "");
  const times = lines.map((line): FileTimes => JSON.parse(line));
  const slowest = times.toSorted((a, b) => b.totalMs - a.totalMs).slice(0, count);
  return ["     total    set-up  processor", ...[...slowest, totalOf(times)].map(rowOf)].join("\n");
}

function totalOf(times: readonly FileTimes[]): FileTimes {
  const sum = (name: "loadMs" | "totalMs" | "cpuMs") => times.reduce((total, one) => total + one[name], 0);
  return { file: `all ${times.length} files`, loadMs: sum("loadMs"), totalMs: sum("totalMs"), cpuMs: sum("cpuMs") };
}

function rowOf({ file, totalMs, loadMs, cpuMs }: FileTimes): string {
  return `${[totalMs, loadMs, cpuMs].map((ms) => `${(ms / 1000).toFixed(1)} s`.padStart(10)).join("")}  ${file}`;
}
