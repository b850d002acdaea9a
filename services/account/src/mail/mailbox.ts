/** What `mail.from` may be: an address alone, or with a name before it. */
export const mailboxPattern = '^([^<>"\\p{Cc}]{1,80} <[^\\s<>@]+@[^\\s<>@]+>|[^\\s<>@]+@[^\\s<>@]+)$';

/** Takes `Name <address>` apart. */
export function parseMailbox(text: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = text] = /^(.*) <(.*)>$/.exec(text) ?? [];
  return { name, address };
}
