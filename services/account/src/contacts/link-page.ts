import { bytes, type HttpResponse } from "@signalbox/http";
import { Html, html, pagePolicy, pageText, pageType } from "../pages/page.ts";

export interface LinkPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** What its one button says; left out when there is nothing to do. The button posts to where the page is. */
  readonly button?: string;
}

/** A small page for people who followed a link from a mail: headings and a labelled button, for any reader and no script. */
export function linkPage(status: number, language: string, { title, paragraphs, button }: LinkPage): HttpResponse {
  const text = paragraphs.map((paragraph) => html`<p>${paragraph}</p>`.text).join("\n");
  const form = button === undefined ? null : html`<form method="post"><button type="submit">${button}</button></form>`;
  const page = pageText({ status, language, title, content: html`${new Html(text)}\n${form}` });
  return bytes(Buffer.from(page), pageType, { status, cache: "no-store", headers: pagePolicy() });
}
