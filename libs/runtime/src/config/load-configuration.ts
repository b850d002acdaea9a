import { join } from "node:path";
import { createAddresses } from "./addresses.ts";
import { checkSources } from "./check-sources.ts";
import type { Configuration } from "./configuration.ts";
import { ConfigurationError } from "./configuration-error.ts";
import { createConfiguration } from "./create-configuration.ts";
import type { PropertyDeclarations } from "./property-declaration.ts";
import { readEnvironment } from "./read-environment.ts";
import { readFile } from "./read-file.ts";
import { startNames } from "./start-options.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

export interface LoadConfiguration<P extends PropertyDeclarations> {
  readonly service: string;
  readonly properties: P;
  /** Arguments without the program: `--name=value`. */
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of `signalbox.yaml` and `signalbox.<profile>.yaml`; `null` reads no files. */
  readonly directory: string | null;
  readonly profile?: string | undefined;
  /** Names of other services, which are allowed in a shared source. */
  readonly foreignNames?: Iterable<string>;
}

/**
 * Reads every source once and binds the values to their declarations. A name with the service's prefix beats the bare
 * one in any source; then the source with the higher precedence wins.
 *
 * @throws ConfigurationError with every problem of every source, also of values without precedence.
 */
export function loadConfiguration<P extends PropertyDeclarations>(input: LoadConfiguration<P>): Configuration<P> {
  const { service, properties, directory, profile } = input;
  const addresses = createAddresses(service, Object.keys(properties), input.foreignNames ?? []);
  const files = directory === null ? [] : fileNames(profile).map((name) => readFile(join(directory, name)));
  const aboveOverrides = [readCommandLine(input.argv), readEnvironment(input.environment, addresses)];
  const belowOverrides = files.filter((file) => file !== null);

  const problems = checkSources([...aboveOverrides, ...belowOverrides], properties, addresses);
  if (problems.length > 0) throw new ConfigurationError(problems);
  return createConfiguration({ service, properties, addresses, aboveOverrides, belowOverrides });
}

function fileNames(profile: string | undefined): string[] {
  return profile === undefined ? ["signalbox.yaml"] : [`signalbox.${profile}.yaml`, "signalbox.yaml"];
}

/** Reads values written as `--name=value`; `--name` alone means `true`. */
function readCommandLine(argv: readonly string[]): ValueSource {
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
