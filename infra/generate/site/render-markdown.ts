import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { escaped } from "./escape-html.ts";
import { highlightCode } from "./highlight-code.ts";

/** A section of a page, for the search. */
interface PageSection {
  /** Empty for the beginning of a page. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly PageSection[];
}

/** Languages of code blocks that the search finds: commands and what they print. */
const searchedLanguages = new Set(["sh", "text"]);

/** Gives a link's address from a page to another place; null for what is not published. */
export type ResolveLink = (href: string) => string | null;

/** Renders a page of the repository. Links to files that are not published become plain text. */
export function renderMarkdown(markdown: string, resolveLink: ResolveLink): RenderedPage {
  const sections: { id: string; heading: string; text: string }[] = [{ id: "", heading: "", text: "" }];
  const ids = new Map<string, number>();
  let title = "";
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }: Tokens.Heading): string {
        const html = this.parser.parseInline(tokens);
        const heading = textOf(html);
        const id = slugOf(heading, ids);
        if (depth === 1) title = heading;
        else sections.push({ id, heading, text: "" });
        return `<h${depth} id="${id}">${html}</h${depth}>\n`;
      },
      paragraph({ tokens }: Tokens.Paragraph): string {
        const html = this.parser.parseInline(tokens);
        if (html === "") return "";
        note(html);
        return `<p>${html}</p>\n`;
      },
      // Comments say how a page is tested.
      html: ({ text }: Tokens.HTML | Tokens.Tag) => text.replaceAll(/<!--.*?-->/gs, ""),
      // Pictures of the console are for those who read the repository: a deployment has the console itself.
      image: () => "",
      code({ text, lang }: Tokens.Code): string {
        // Examples in JSON and programs repeat the names around them: they would fill the search and find nothing more.
        if (!lang || searchedLanguages.has(lang)) note(escaped(text));
        return `<pre tabindex="0"><code>${highlightCode(text, lang ?? "")}</code></pre>\n`;
      },
      table({ header, rows }: Tokens.Table): string {
        const cells = (row: readonly Tokens.TableCell[]) => row.map(({ tokens }) => this.parser.parseInline(tokens));
        const head = cells(header).map((cell) => (textOf(cell) === "" ? "<td></td>" : `<th scope="col">${cell}</th>`));
        const body = rows.map(
          (row) =>
            `<tr>${cells(row)
              .map((cell) => `<td>${cell}</td>`)
              .join("")}</tr>`,
        );
        for (const row of body) note(row.replaceAll("</td>", " "));
        return `<div class="table" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${head.join("")}</tr></thead><tbody>${body.join("\n")}</tbody></table></div>\n`;
      },
      listitem({ tokens }: Tokens.ListItem): string {
        const html = this.parser.parse(tokens);
        note(html);
        return `<li>${html}</li>\n`;
      },
      link({ href, tokens }: Tokens.Link): string {
        const html = this.parser.parseInline(tokens);
        const to = resolveLink(href);
        return to === null ? html : `<a href="${escaped(to)}">${html}</a>`;
      },
    },
  });
  const note = (html: string): void => {
    const section = sections.at(-1);
    if (section) section.text = `${section.text} ${textOf(html)}`.trim();
  };
  const html = marked.parse(markdown, { async: false });
  return { title, html, sections };
}

/** Makes the anchor that GitHub gives to a heading, after those that are taken. */
export function slugOf(heading: string, taken = new Map<string, number>()): string {
  const slug = heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
  const count = taken.get(slug) ?? 0;
  taken.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function textOf(html: string): string {
  const text = html.replace(/<[^>]*>/g, "").replace(/\s+/g, " ");
  const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? "").trim();
}

/** Gives the relative address of a page from another one, so that a deployment may be below a path. */
export function relativeAddress(from: string, to: string): string {
  // By its folder, so that a page is named also from the pages below it.
  const [own, other] = [posix.dirname(`/${from}`), posix.dirname(`/${to}`)];
  return posix.join(posix.relative(own, other), posix.basename(to));
}
