/** A fenced block of shell commands in a page of the documentation. */
export interface Commands {
  /** Position of its first command, as `page:line`. */
  readonly place: string;
  readonly script: string;
  /** The output that the page shows; null without one. */
  readonly shown: string | null;
  /** The reason why no test runs it; null for a block that runs. */
  readonly notRun: string | null;
  /** The reader's manual step before it, as shell commands; null without one. */
  readonly byHand: string | null;
}

interface Fence {
  readonly language: string;
  readonly content: string;
  /** The number of its first line of content, counted from 1. */
  readonly line: number;
  /** The text between the previous block and this one. */
  readonly before: string;
}

/** Other languages of fences. All but the first are code, which other tests check. */
const others = ["text", "json", "ts", "python", "go", "java", "js", "html", "mermaid"];

/**
 * Extracts the commands of a page in order: every fence marked `sh`. A `text` fence right after it is their output, in
 * which `…` stands for anything. A comment may stand right before it: `<!-- not run: why -->`, or `<!-- by hand: …
 * -->`.
 *
 * @throws Error for a fence without a language, because nobody would notice that it is not run
 */
export function commandsOf(page: string, markdown: string): Commands[] {
  const fences = fencesOf(markdown);
  return fences.flatMap((fence, index) => {
    const { language, content, line, before } = fence;
    const place = `${page}:${line}`;
    if (others.includes(language)) return [];
    if (language !== "sh") throw new Error(`${place}: a fence says what it is: sh, ${others.join(", ")}`);
    const next = fences[index + 1];
    const shown = next?.language === "text" && next.before.trim() === "" ? next.content : null;
    return [{ place, script: content, shown, notRun: remark(before, "not run"), byHand: remark(before, "by hand") }];
  });
}

function fencesOf(markdown: string): Fence[] {
  const lines = markdown.split("\n");
  const fences: Fence[] = [];
  let [opened, closed] = [-1, -1];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith("```")) continue;
    if (opened < 0) {
      opened = index;
      continue;
    }
    const language = (lines[opened] ?? "").slice(3).trim();
    const before = lines.slice(closed + 1, opened).join("\n");
    fences.push({ language, content: lines.slice(opened + 1, index).join("\n"), line: opened + 2, before });
    [opened, closed] = [-1, index];
  }
  return fences;
}

/** Returns the comment at the end of the text before a fence. */
function remark(before: string, kind: string): string | null {
  const [, text] = new RegExp(`<!-- ${kind}: ([^]*?) -->\\s*$`).exec(before) ?? [];
  return text ?? null;
}

/** Ids, times and secrets differ from run to run: the prefix of an id names its kind. */
const changing: readonly (readonly [RegExp, string])[] = [
  [/\b([a-z]{3})_[0-9A-Za-z]{20,}\b/g, "$1_\\w+"],
  [/\b\d{4}-\d\d-\d\dT[\d:.\\]+Z\b/g, "[\\dT:.Z-]+"],
];

/**
 * Returns the first part of the shown output that the real output lacks; null when all is there. The parts are the
 * lines, and the texts between two `…`; they come in order, with anything between them.
 */
export function missingIn(output: string, shown: string): string | null {
  let from = 0;
  for (const part of shown.split(/…|\n/).map((text) => text.trim())) {
    const found = patternOf(part).exec(output.slice(from));
    if (!found) return part;
    from += found.index + found[0].length;
  }
  return null;
}

function patternOf(part: string): RegExp {
  const literal = part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(changing.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), literal));
}
