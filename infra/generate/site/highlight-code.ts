import * as languages from "@speed-highlight/core/languages";
import { type ShjLanguageData, type ShjToken, tokenizeWith } from "@speed-highlight/core/tokenize";
import { escaped } from "./escape-html.ts";

/** The languages that the library knows by other names than a fence of Markdown. */
const named = { ...languages, sh: languages.bash, python: languages.py } as Record<string, ShjLanguageData>;

/** The tokens that the style sheet colours. */
const kinds: Partial<Record<ShjToken, string>> = { cmnt: "comment", kwd: "keyword", str: "text" };

/** Marks the comments, texts and keywords of code for the style sheet. Another language comes as it is. */
export function highlightCode(code: string, name: string): string {
  const language = named[name];
  if (language === undefined) return escaped(code);
  let html = "";
  const add = (text: string, token?: ShjToken) => {
    const kind = token && kinds[token];
    html += kind ? `<span class="${kind}">${escaped(text)}</span>` : escaped(text);
  };
  tokenizeWith(code, language, add, { languages: named });
  return html;
}
