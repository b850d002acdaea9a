import { isUtf8 } from "node:buffer";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { failureCode } from "@signalbox/core";
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLError,
} from "yaml";
import { type Addresses, createAddresses, variableName } from "./addresses.ts";
import { checkSources } from "./check-sources.ts";
import { type Configuration, ConfigurationError } from "./configuration.ts";
import { createConfiguration } from "./create-configuration.ts";
import type { RawValue } from "./parse-value.ts";
import type { PropertyDeclarations } from "./property-declaration.ts";
import { startNames } from "./start-options.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

interface LoadConfiguration<P extends PropertyDeclarations> {
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

/** Injected by Kubernetes for a Service named signalbox-…: `…_SERVICE_HOST`, `…_PORT=tcp://…`, `…_PORT_80_TCP_ADDR`. */
const serviceLink =
  /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?$/;
const serviceLinkValue = /^(?:tcp|udp|sctp):\/\//;

/** Variables of the `signalbox` command, which a person may have set in the shell that starts a service. */
const commandVariables: ReadonlySet<string> = new Set([
  "SIGNALBOX_URL",
  "SIGNALBOX_API_KEY",
  "SIGNALBOX_WEBHOOK_SECRET",
]);

/** Reads the variables with our prefix, named by their property; an unknown one keeps its own name. */
function readEnvironment(environment: Readonly<Record<string, string | undefined>>, addresses: Addresses): ValueSource {
  const entries = new Map<string, SourceEntry>();
  const reserved = new Set(startNames.map(variableName));
  for (const [variable, raw] of Object.entries(environment)) {
    if (raw === undefined || !variable.startsWith("SIGNALBOX_") || reserved.has(variable)) continue;
    const address = addresses.fromEnvironment(variable);
    if (address === undefined && isOthers(variable, raw, addresses)) continue;
    entries.set(address ?? variable, { raw, origin: variable });
  }
  return { name: "environment", entries, faults: [] };
}

function isOthers(variable: string, raw: string, addresses: Addresses): boolean {
  if (commandVariables.has(variable)) return true;
  return addresses.isForeignVariable(variable) || serviceLink.test(variable) || serviceLinkValue.test(raw);
}

/** Reads a YAML file of nested or dotted names; `null` when there is none. Origins are `file:line`. */
function readFile(path: string): ValueSource | null {
  if (!existsSync(path)) return null;
  const name = basename(path);
  const refused = (expected: string, origin = name) => ({
    name,
    entries: new Map(),
    faults: [{ origin, expected }],
  });
  try {
    const bytes = readFileSync(path);
    const text = bytes.toString("utf8");
    if (isUtf8(bytes)) return readYaml(name, text);
    const line = text.slice(0, text.indexOf("\ufffd")).split("\n").length;
    return refused("text in UTF-8", `${name}:${line}`);
  } catch (error) {
    return refused(`a file that can be read (${failureCode(error)})`);
  }
}

/** The first fault of a text that is not YAML is its only one: what follows was read wrongly. */
function readYaml(file: string, text: string): ValueSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const originOf = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const originAt = (node: Node) => originOf(node.range?.[0] ?? 0);

  const entries = new Map<string, SourceEntry>();
  const faults: { origin: string; expected: string }[] = [];
  const [error] = [...document.errors, ...document.warnings];
  if (error) return { name: file, entries, faults: [{ origin: originOf(error.pos[0]), expected: faultOf(error) }] };

  /** Maps around the present one: an alias of one of them would never end. */
  const around = new Set<Node>();
  const visit = (name: string, node: Node | null, keyOrigin: string) => {
    const refuse = (expected: string) => void faults.push({ origin: keyOrigin, expected });
    const value = isAlias(node) ? node.resolve(document) : node;
    if (value === undefined) return refuse("the anchor of an alias before it");
    if (isMap(value)) {
      if (around.has(value)) return refuse("no alias of a map inside it");
      around.add(value);
      for (const { key, value: child } of value.items) {
        if (!isScalar(key)) faults.push({ origin: originAt(key as Node), expected: "names that are strings" });
        else visit(name === "" ? textOf(key) : `${name}.${textOf(key)}`, child as Node | null, originAt(key));
      }
      around.delete(value);
      return;
    }
    const raw = rawOf(value);
    if (raw === undefined) refuse("a string, a number, true, false, null or a list of strings");
    else if (entries.has(name)) refuse(`${name} once`);
    else entries.set(name, { raw, origin: keyOrigin });
  };

  if (isMap(document.contents)) visit("", document.contents, file);
  else if (document.contents !== null && !isNull(document.contents)) {
    faults.push({ origin: file, expected: "names and values, as in `http.port: 8080`" });
  }
  return { name: file, entries, faults };
}

function faultOf({ code, message }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "one YAML document";
  return `valid YAML (${message.split("\n", 1)[0]?.replace(/ at line \d+, column \d+:$/, "")})`;
}

/** Returns everything but null as it was written: a release `1.10` must not become the number 1.1. */
function rawOf(node: Node | null): RawValue | undefined {
  if (node === null || isNull(node)) return null;
  if (isScalar(node)) return textOf(node);
  if (isSeq(node) && node.items.every((item) => isScalar(item) && !isNull(item))) {
    return node.items.map((item) => textOf(item as Scalar));
  }
  return undefined;
}

function isNull(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}

function textOf(node: Scalar): string {
  return typeof node.value === "string" ? node.value : (node.source ?? String(node.value));
}
