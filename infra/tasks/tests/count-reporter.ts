import type { TestEvent } from "node:test/reporters";
import type { TestCounts } from "./run-tests.ts";

/** Writes the totals of a run as JSON. */
// biome-ignore lint/style/noDefaultExport: the test runner takes a reporter's default export.
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === "test:summary" && data.file === undefined) yield JSON.stringify(data.counts satisfies TestCounts);
  }
}
