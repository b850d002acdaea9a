import { snakeCase } from "@signalbox/core";
import { presets } from "@signalbox/webhook-signatures";
import type { Generator } from "../generator.ts";

type Preset = (typeof presets)[keyof typeof presets];

/** The page of known senders, from the presets of their sources. */
export const senderPage: Generator = {
  name: "page of senders",
  kind: "committed",
  folders: async () => [],
  generate: async () => new Map([["docs/reference/senders.md", page()]]),
};

function page(): string {
  const rows = Object.entries(presets).map(
    ([name, { title, scheme, secretFrom }]) =>
      `| [${title}](#${title.toLowerCase().replaceAll(" ", "-")}) | \`${name}\` | \`${scheme}\` | ${secretFrom} |`,
  );
  const sections = Object.entries(presets).map(([name, preset]) => sectionOf(name, preset));
  return `# Senders

Generated from \`libs/webhook-signatures/src/presets\` by \`npm run generate\`. A new source names one of them as its \`preset\`; for
other senders see [how senders sign](webhooks.md#how-senders-sign).

| sender | \`preset\` | scheme | the secret |
|---|---|---|---|
${rows.join("\n")}

To connect one, create the source with \`POST /api/v1/webhooks/sources\` and the body of its section. The answer has the
\`ingest_path\`; with \`http.base-url\` before it, it is the address of the source. Where a sender shows its secret only once it knows
the address, create the source with another secret first and replace it then ([how](../how-to/migrate-a-secret.md)). Then tell the
sender, step by step.

${sections.join("\n")}`;
}

function sectionOf(
  name: string,
  { title, documentation, scheme, settings, secretFrom, steps, notes, vector }: Preset,
): string {
  const token =
    "handshake" in settings && settings.handshake === "meta" ? { verify_token: "a token that you choose" } : {};
  const body = { name: title, preset: name, secret: "…", ...token };
  const rows = Object.entries(settings).map(
    ([key, value]) => `| \`${snakeCase(key)}\` | \`${JSON.stringify(onWire(value))}\` |`,
  );
  const headers = Object.entries(vector.headers).map(([header, value]) => `${header}: ${value}`);
  const target = "url" in vector ? vector.url : "/ingest/src_…";
  return `## ${title}

[${title}'s own page](${documentation}). Where the secret is: ${secretFrom}.

\`\`\`json
${JSON.stringify(body)}
\`\`\`

${steps.map((step) => `- ${step}`).join("\n")}

The preset has the scheme \`${scheme}\` and sets:

| setting | value |
|---|---|
${rows.join("\n")}

${notes.map((note) => `${note}\n\n`).join("")}A request that verifies, from ${vector.from}. Signed at ${new Date(vector.atSeconds * 1000).toISOString()} with the secret \`${vector.secret}\`:

\`\`\`text
POST ${target}
${headers.join("\n")}

${vector.body}
\`\`\`
`;
}

function onWire(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), member]));
}
