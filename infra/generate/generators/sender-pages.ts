import { snakeCase } from "@signalbox/core";
import { presets } from "@signalbox/webhook-signatures";
import type { Generator } from "../generator.ts";

type Preset = (typeof presets)[keyof typeof presets];

const folder = "docs/reference/senders";

/** The pages of known senders, from the presets of their sources. */
export const senderPages: Generator = {
  name: "pages of senders",
  kind: "committed",
  folders: async () => [folder],
  generate: async () => {
    const pages = Object.entries(presets).map(
      ([name, preset]) => [`${folder}/${name}.md`, pageOf(name, preset)] as const,
    );
    return new Map([[`${folder}/README.md`, indexPage()], ...pages]);
  },
};

function indexPage(): string {
  const rows = Object.entries(presets).map(
    ([name, { title, scheme, secretFrom }]) =>
      `| [${title}](${name}.md) | \`${name}\` | \`${scheme}\` | ${secretFrom} |`,
  );
  return `# Senders

Generated from \`libs/webhook-signatures/src/presets\` by \`npm run generate\`. A new source names one of them as its \`preset\`; for
other senders see [how senders sign](../webhooks.md#how-senders-sign).

| sender | \`preset\` | scheme | the secret |
|---|---|---|---|
${rows.join("\n")}
`;
}

function pageOf(
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
  return `# ${title}

Generated from \`libs/webhook-signatures/src/presets/${name}.ts\` by \`npm run generate\`. ${title}'s own page: <${documentation}>

**1. Create the source** with \`POST /api/v1/webhooks/sources\`. Where the secret is: ${secretFrom}.

\`\`\`json
${JSON.stringify(body, null, 2)}
\`\`\`

The answer has the \`ingest_path\`; with \`http.base-url\` before it, it is the address of the source. Where ${title} shows its secret only
once it knows the address, create the source with another secret first and replace it then ([how](../../how-to/migrate-a-secret.md)).

**2. Tell ${title}:**

${steps.map((step) => `- ${step}`).join("\n")}

## What the preset sets

The scheme is \`${scheme}\`.

| setting | value |
|---|---|
${rows.join("\n")}

${notes.map((note) => `${note}\n\n`).join("")}## A request that verifies

From ${vector.from}. Signed at ${new Date(vector.atSeconds * 1000).toISOString()} with the secret \`${vector.secret}\`:

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
