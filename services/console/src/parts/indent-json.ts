/** A text, a sign or a word of JSON, with the white space around it. */
const tokens = /\s*("(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+)\s*/g;
/** Levels that are indented: fifty thousand of them would be gigabytes of spaces. */
const levelsMax = 32;

/** Indents JSON and changes nothing else: numbers keep their digits, members their order. Another text stays as it is. */
export function indentJson(text: string): string {
  if (!isJson(text)) return text;
  let [level, before] = [0, ""];
  return text.replaceAll(tokens, (_, token: string) => {
    const [opens, closes] = [/^[{[]/.test(token), /^[}\]]/.test(token)];
    const isFirst = /^[{[]/.test(before);
    if (closes) level--;
    const isNewLine = closes ? !isFirst : isFirst || before === ",";
    const space = isNewLine ? `\n${"  ".repeat(Math.min(level, levelsMax))}` : before === ":" ? " " : "";
    if (opens) level++;
    before = token;
    return space + token;
  });
}

/** Characters that nobody sees, and those that turn around what follows them. */
const unseen = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/g;

/** Writes characters that nobody sees by their codes, so that a text shows what is in it. */
export const visibleText = (text: string): string =>
  text.replaceAll(unseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`);

/**
 * Finds the text of a member of JSON as it was written: of `{"a":[1.10]}`, the member `a`, `0` is `1.10`. A value that
 * is parsed and printed has other digits and another order.
 */
export function memberText(text: string, ...path: readonly (string | number)[]): string | undefined {
  const found = [...text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)];
  const tokens = found.map(([token]) => token);
  let start = 0;
  for (const name of path) {
    const member = memberAt(tokens, start, name);
    if (member === undefined) return undefined;
    start = member;
  }
  const last = found[endOf(tokens, start) - 1];
  return last && text.slice(found[start]?.index, last.index + last[0].length);
}

/** Finds the token at which a member of the value at a token begins; of several of one name the last one counts. */
function memberAt(tokens: readonly string[], start: number, name: string | number): number | undefined {
  const isObject = tokens[start] === "{";
  if (!isObject && tokens[start] !== "[") return undefined;
  let member: number | undefined;
  for (let at = start + 1, index = 0; /^[^}\]]/.test(tokens[at] ?? "]"); index++) {
    const key = isObject ? JSON.parse(tokens[at] ?? "") : index;
    if (isObject) at += 2;
    if (key === name) member = at;
    at = endOf(tokens, at);
    if (tokens[at] === ",") at++;
  }
  return member;
}

/** Finds the token behind the value that begins at a token. */
function endOf(tokens: readonly string[], start: number): number {
  let at = start;
  let depth = 0;
  do {
    if (/^[{[]/.test(tokens[at] ?? "")) depth++;
    if (/^[}\]]/.test(tokens[at] ?? "")) depth--;
    at++;
  } while (depth > 0 && at < tokens.length);
  return at;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
