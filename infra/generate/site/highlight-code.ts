import { escaped } from "./escape-html.ts";

/**
 * What stands out in the code of a language. highlight.js knows a hundred more of them and weighs 5 MB in every clone; the
 * pages show these.
 */
interface Language {
  readonly comment?: string;
  readonly text: string;
  readonly keywords: string;
}

const quoted = String.raw`"(?:\\[^]|[^"\\])*"`;
const slashes = String.raw`\/\/.*|\/\*[^]*?\*\/`;
const script: Language = {
  comment: slashes,
  text: String.raw`${quoted}|'(?:\\.|[^'\\\n])*'|${"`"}(?:\\[^]|[^${"`"}\\])*${"`"}`,
  keywords:
    "as async await break case catch class const declare default else export extends false for from function if import in interface let new null of readonly return static switch throw true try type typeof undefined while",
};

const languages: Readonly<Record<string, Language>> = {
  sh: {
    comment: String.raw`(?<=^|\s)#.*`,
    text: `${quoted}|'[^']*'`,
    keywords: "case do done elif else esac export fi for function if in then until while",
  },
  json: { text: quoted, keywords: "false null true" },
  ts: script,
  js: script,
  html: { comment: "<!--[^]*?-->", text: quoted, keywords: "" },
  python: {
    comment: "#.*",
    text: String.raw`f?(?:${quoted}|'(?:\\.|[^'\\\n])*')`,
    keywords:
      "and as async await class def elif else except False finally for from if import in is lambda None not or pass raise return True try while with yield",
  },
  go: {
    comment: slashes,
    text: `${quoted}|${"`"}[^${"`"}]*${"`"}`,
    keywords:
      "break case const defer else err for func go if import interface map nil package range return struct switch type var",
  },
  java: {
    comment: slashes,
    text: quoted,
    keywords:
      "catch class extends final for if import implements new null package private public return static throw throws try var void while",
  },
};

const patterns = new Map(Object.entries(languages).map(([name, language]) => [name, patternOf(language)]));

function patternOf({ comment = "(?!)", text, keywords }: Language): RegExp {
  const words = keywords === "" ? "(?!)" : `(?<![\\w$.-])(?:${keywords.replaceAll(" ", "|")})(?![\\w$-])`;
  return new RegExp(`(?<comment>${comment})|(?<text>${text})|(?<keyword>${words})`, "gm");
}

/** Marks the comments, texts and keywords of code for the style sheet. Another language comes as it is. */
export function highlightCode(code: string, language: string): string {
  const pattern = patterns.get(language);
  if (pattern === undefined) return escaped(code);
  let [html, from] = ["", 0];
  for (const { 0: token, index, groups = {} } of code.matchAll(pattern)) {
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined);
    html += `${escaped(code.slice(from, index))}<span class="${kind}">${escaped(token)}</span>`;
    from = index + token.length;
  }
  return html + escaped(code.slice(from));
}
