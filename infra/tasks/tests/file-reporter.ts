import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect, stripVTControlCharacters } from "node:util";
import { environment } from "@signalbox/runtime";
import { root } from "../../generate/repository.ts";

type Completed = Extract<TestEvent, { type: "test:complete" }>["data"];

/**
 * Prints one line for each test file as it ends, every failure with its error when it happens, and at the end the totals
 * and the failures once more by name. Files run in bundles: the suite at the top is the file (`run-files.ts`).
 */
// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter's default export.
export default async function* fileReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = [];
  const countsOf = new Map<string, number>();
  const lines: (readonly [ms: number, line: string])[] = [];
  for await (const { type, data } of events) {
    if (type === "test:stderr") yield data.message;
    if (type === "test:complete") {
      const file = fileOf(data);
      if (!isFile(data)) countsOf.set(file, (countsOf.get(file) ?? 0) + (data.details.type === "suite" ? 0 : 1));
      const error = data.details.passed ? null : errorOf(data);
      if (error !== null) {
        failures.push(`${file}: ${data.name}`);
        yield `FAILED ${file}:${data.line ?? 0}\n       ${data.name}\n${indent(error)}\n`;
      }
      if (!isFile(data)) continue;
      const line = lineOf(data, file, countsOf.get(file) ?? 0);
      if (file.endsWith(".ts")) lines.push([data.details.duration_ms, line]);
      yield line;
    }
    if (type !== "test:summary" || data.file !== undefined) continue;
    if (environment().TEST_SLOWEST) yield `\nThe slowest:\n${slowestOf(lines)}`;
    yield summaryOf(data.counts, failures);
    const { tests, skipped, todo } = data.counts;
    if (!environment().TEST_EVERY || (tests > 0 && skipped + todo === 0)) continue;
    process.exitCode = 1;
    yield `Every test must run: ${JSON.stringify({ tests, skipped, todo })}\n`;
  }
}

/** The suite of a file, whose name is the file's path; or a process that broke off, reported under its bundle. */
const isFile = ({ nesting, name }: Completed): boolean => nesting === 0 && /\.(test\.ts|mjs)$/.test(name);

function fileOf({ nesting, name, file }: Completed): string {
  return nesting === 0 && name.endsWith(".test.ts") ? name : relative(root, file ?? name);
}

function lineOf({ details }: Completed, file: string, count: number): string {
  const seconds = (details.duration_ms / 1000).toFixed(1).padStart(6);
  return `${details.passed ? "ok    " : "FAILED"} ${seconds} s ${String(count).padStart(4)}  ${file}\n`;
}

/** Null for a parent that failed only because of a test inside it, which was reported by itself. */
function errorOf({ details }: Completed): string | null {
  const error = (details as { error?: Error & { failureType?: string } }).error;
  if (error === undefined || error.failureType === "subtestsFailed") return null;
  return stripVTControlCharacters(inspect(error.cause ?? error));
}

function summaryOf(counts: Extract<TestEvent, { type: "test:summary" }>["data"]["counts"], failures: string[]): string {
  const named = failures.length === 0 ? "" : `\nFailed:\n${failures.map((name) => `  ${name}`).join("\n")}\n`;
  // A file that cannot be loaded is a failure without a test.
  const failed = Math.max(failures.length, counts.tests - counts.passed);
  return `${named}\n${counts.passed} passed, ${failed} failed\n`;
}

const slowestOf = (lines: readonly (readonly [ms: number, line: string])[]): string =>
  lines
    .toSorted(([one], [other]) => other - one)
    .slice(0, 30)
    .map(([, line]) => line)
    .join("");

const indent = (text: string): string => text.replaceAll(/^/gm, "       ");
