import { once } from "node:events";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { root } from "../../generate/repository.ts";

/**
 * Runs the files, and each again when it or something that it imports changes, until a signal asks to stop. The command
 * line of node's runner would watch the whole clone besides: installed packages, databases, everything that tests write.
 */
export async function watchTests(files: readonly string[], runnerOptions: readonly string[]): Promise<void> {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  const valuesOf = (option: string) =>
    runnerOptions.flatMap((given) => (given.startsWith(`${option}=`) ? [given.slice(option.length + 1)] : []));
  run({
    files: files.map((file) => join(root, file)),
    cwd: root,
    watch: true,
    signal: stopping.signal,
    testNamePatterns: valuesOf("--test-name-pattern"),
    testSkipPatterns: valuesOf("--test-skip-pattern"),
  })
    .compose(new spec())
    .pipe(process.stdout);
  await once(stopping.signal, "abort");
}
