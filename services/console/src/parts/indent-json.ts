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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
