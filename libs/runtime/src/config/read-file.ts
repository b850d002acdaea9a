import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from "yaml";
import type { RawValue } from "./parse-value.ts";
import type { SourceEntry, ValueSource } from "./value-source.ts";

/** Reads a YAML file of nested or dotted names; `null` when there is none. Origins are `file:line`. */
export function readFile(path: string): ValueSource | null {
  if (!existsSync(path)) return null;
  const file = basename(path);
  const lines = new LineCounter();
  const document = parseDocument(readFileSync(path, "utf8"), { lineCounter: lines });
  const originOf = (offset: number) => `${file}:${lines.linePos(offset).line}`;

  const entries = new Map<string, SourceEntry>();
  const faults = document.errors.map((error) => ({
    origin: originOf(error.pos[0]),
    expected: `valid YAML (${error.message.split("\n")[0]})`,
  }));

  const visit = (name: string, node: Node | null, keyOrigin: string) => {
    const value = isAlias(node) ? node.resolve(document) : node;
    if (isMap(value)) {
      for (const { key, value: child } of value.items) {
        const keyNode = key as Scalar;
        visit(name === "" ? textOf(keyNode) : `${name}.${textOf(keyNode)}`, child as Node | null, originAt(keyNode));
      }
      return;
    }
    const raw = rawOf(value as Node | null);
    if (raw === undefined)
      faults.push({ origin: keyOrigin, expected: "a text, a number, true, false, null or a list of texts" });
    else if (entries.has(name)) faults.push({ origin: keyOrigin, expected: `${name} once` });
    else entries.set(name, { raw, origin: keyOrigin });
  };
  const originAt = (node: Node) => originOf(node.range?.[0] ?? 0);

  if (isMap(document.contents)) visit("", document.contents, file);
  else if (document.contents !== null && !isNull(document.contents)) {
    faults.push({ origin: file, expected: "names and values, as in `http.port: 8080`" });
  }
  return { name: file, entries, faults };
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
