import type { Source, SourceEntry } from "./source.ts";
import { startNames } from "./start-options.ts";

/** Values written as `--name=value`; `--name` alone means `true`. */
export function readCommandLine(argv: readonly string[]): Source {
  const entries = new Map<string, SourceEntry>();
  const faults: { origin: string; expected: string }[] = [];
  for (const argument of argv) {
    const match = /^--([^=]+)(?:=([\s\S]*))?$/.exec(argument);
    const name = match?.[1];
    if (name === undefined) faults.push({ origin: argument, expected: "arguments of the form --name=value" });
    else if (entries.has(name)) faults.push({ origin: `--${name}`, expected: "each argument once" });
    else if (!startNames.includes(name)) entries.set(name, { raw: match?.[2] ?? "true", origin: `--${name}` });
  }
  return { name: "command line", entries, faults };
}
