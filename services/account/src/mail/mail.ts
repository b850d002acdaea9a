import { templates } from "./templates/templates.ts";

/** A mail as it leaves: text alone, and nothing in it that a user wrote but the addresses. */
export interface Mail {
  /** Names the mail in logs, and in its `Message-ID`, by which a receiver knows a repeated one. */
  readonly id: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

type Templates = typeof templates;
export type MailKind = keyof Templates;

/** What a mail of each kind has to be told. */
export type MailContent = {
  [Kind in MailKind]: { readonly kind: Kind } & Parameters<Templates[Kind]["en"]>[0];
}[MailKind];

/** Subject and text in the language of `locale`, in English where there is no other. */
export function writeMail(content: MailContent, locale: string, baseUrl: string): Pick<Mail, "subject" | "text"> {
  const language = locale.startsWith("de") ? "de" : "en";
  // The kind and the values of `content` belong together, which the lookup cannot know.
  const template = templates[content.kind][language] as (values: MailContent) => readonly string[];
  const [subject = "", ...paragraphs] = template(content);
  return { subject, text: `${[...paragraphs, `-- \nSignalbox, ${baseUrl}`].join("\n\n")}\n` };
}
