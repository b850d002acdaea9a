import ts from "typescript";
import { lineOf, type Module } from "./modules.ts";

const blockLines = 6;

/** A run of lines that two services both have. */
export interface EqualBlock {
  readonly lines: number;
  /** Its first lines in both files, as `path:line`. */
  readonly places: readonly [string, string];
}

interface Line {
  readonly text: string;
  readonly number: number;
}

/** The runs of six or more equal lines between files of two services, the longest first. */
export function equalBlocks(modules: readonly Module[]): EqualBlock[] {
  const files = modules.map((module) => ({ module, lines: significantLines(module) }));
  const windows = new Map<string, Array<{ file: number; index: number }>>();
  for (const [file, { lines }] of files.entries()) {
    for (let index = 0; index + blockLines <= lines.length; index++) {
      const key = windowAt(lines, index);
      windows.set(key, [...(windows.get(key) ?? []), { file, index }]);
    }
  }
  const found: EqualBlock[] = [];
  for (const places of windows.values()) {
    for (const a of places) {
      for (const b of places) {
        const [left, right] = [files[a.file], files[b.file]];
        if (!left || !right || left.module.folder >= right.module.folder) continue;
        // It continues a block that was found from its first line.
        if (a.index > 0 && left.lines[a.index - 1]?.text === right.lines[b.index - 1]?.text) continue;
        found.push({
          lines: equalFrom(left.lines, a.index, right.lines, b.index),
          places: [placeOf(left, a.index), placeOf(right, b.index)],
        });
      }
    }
  }
  return found.sort((a, b) => b.lines - a.lines);
}

function windowAt(lines: readonly Line[], index: number): string {
  return lines
    .slice(index, index + blockLines)
    .map(({ text }) => text)
    .join("\n");
}

function equalFrom(left: readonly Line[], leftStart: number, right: readonly Line[], rightStart: number): number {
  let length = 0;
  while (
    left[leftStart + length] !== undefined &&
    left[leftStart + length]?.text === right[rightStart + length]?.text
  ) {
    length++;
  }
  return length;
}

function placeOf({ module, lines }: { module: Module; lines: readonly Line[] }, index: number): string {
  return `${module.path}:${lines[index]?.number}`;
}

/** Lines that say something: no imports, no blank lines, none of punctuation alone. */
function significantLines(module: Module): Line[] {
  const imported = new Set<number>();
  for (const statement of module.ast.statements.filter(ts.isImportDeclaration)) {
    const last = module.ast.getLineAndCharacterOfPosition(statement.end).line + 1;
    for (let number = lineOf(module, statement); number <= last; number++) imported.add(number);
  }
  return module.text
    .split("\n")
    .map((text, index) => ({ text: text.trim().replaceAll(/\s+/g, " "), number: index + 1 }))
    .filter(({ text, number }) => /\w/.test(text) && !imported.has(number));
}
