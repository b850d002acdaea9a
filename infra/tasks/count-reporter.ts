import type { TestEvent } from "node:test/reporters";
import type { RunReport } from "./test.ts";

/** Writes the totals of a run and the files that failed as JSON. */
// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter's default export.
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failed = new Set<string>();
  for await (const { type, data } of events) {
    // A file whose process breaks off has no summary: the runner reports it as a test with the file's name.
    if (type === "test:fail" && data.nesting === 0 && data.name.endsWith(".test.ts")) failed.add(data.name);
    if (type !== "test:summary") continue;
    if (data.file === undefined) {
      yield JSON.stringify({ counts: data.counts, failedFiles: [...failed] } satisfies RunReport);
    } else if (!data.success) failed.add(data.file);
  }
}
