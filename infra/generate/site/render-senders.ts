import { snakeCase } from "@signalbox/core";
import {
  describeRepetitions,
  type KnownPreset,
  type Preset,
  presets,
  type SchemeName,
  schemeDefaults,
} from "@signalbox/webhook-signatures";
import { slugOf } from "./render-markdown.ts";

/** Descriptions of every scheme: what its secret is, and what the signature covers. */
const schemes: Readonly<Record<SchemeName, readonly [secret: string, covers: string]>> = {
  "standard-webhooks": ["`whsec_…`, or a public key `whpk_…`", "id, time and body; also under the headers of Svix"],
  stripe: ["text", "time and body, both in `Stripe-Signature`"],
  github: ["text", "the body, in `X-Hub-Signature-256`; neither id, type nor time"],
  slack: ["text", "time and body, in `X-Slack-Signature`"],
  shopify: ["text", "the body, in `X-Shopify-Hmac-Sha256`; neither id, type nor time"],
  hmac: ["text, or bytes in hexadecimal or base 64", "the text that `signed_content` describes"],
  ed25519: [
    "the sender's public key: 32 bytes, or with `key_format` spki a key of any kind; with `key_format` certificate the text of `{secret}`",
    "the text that `signed_content` describes",
  ],
  token: [
    "text; `user:password` for Basic",
    "nothing: the secret itself is shown in a header, the body, the query or the path",
  ],
  jwt: [
    "the address of the sender's JWKS, or the JWKS; with `token_key` secret text, with certificates the root's fingerprint",
    "the claims of the token, and the body where `body_digest_claim` names its digest",
  ],
};

const all: readonly (readonly [string, KnownPreset])[] = Object.entries(presets);

/** Writes the page of schemes and known senders, from the presets of their sources. */
export function sendersMarkdown(): string {
  const rows = all.map(
    ([name, { title, scheme, secretFrom }]) =>
      `| [${title}](#${slugOf(title)}) | \`${name}\` | \`${scheme}\` | ${secretFrom} |`,
  );
  return `# How senders sign

A new source names one of these ${all.length} senders as its
\`preset\`; for another sender it names a scheme and [settings](sources.md#how-senders-sign). \`GET /api/v1/webhooks/presets\` lists the
senders, and \`GET /api/v1/webhooks/presets/{name}\` has the section of one as data.

## Schemes

| scheme | the secret is | the signature covers | senders |
|---|---|---|---|
${(Object.keys(schemes) as SchemeName[]).map(schemeRow).join("\n")}

${(Object.keys(schemes) as SchemeName[]).map(defaultsOf).join("")}## Senders

| sender | \`preset\` | scheme | the secret |
|---|---|---|---|
${rows.join("\n")}

To connect one, create the source with \`POST /api/v1/webhooks/sources\` and the body of its section. The answer has the
\`ingest_path\`; with \`http.base-url\` before it, it is the address of the source. Where a sender shows its secret only once it knows
the address, create the source with another secret first and replace it then ([how](../how-to/migrate-a-secret.md)). Then tell the
sender, step by step.

${all.map(([name, preset]) => sectionOf(name, preset)).join("\n")}`;
}

function schemeRow(scheme: SchemeName): string {
  const [secret, covers] = schemes[scheme];
  const count = all.filter(([, preset]) => preset.scheme === scheme).length;
  return `| \`${scheme}\` | ${secret} | ${covers} | ${count} |`;
}

/** Lists the settings that hold in a scheme where neither source nor preset sets them. */
function defaultsOf(scheme: SchemeName): string {
  const defaults = Object.entries(schemeDefaults(scheme));
  if (defaults.length === 0) return "";
  const values = defaults.map(([key, value]) => `\`${snakeCase(key)}\` ${JSON.stringify(value)}`);
  return `Defaults of \`${scheme}\`: ${values.join(", ")}.\n\n`;
}

function sectionOf(name: string, preset: KnownPreset): string {
  const { title, documentation, documentedOn, scheme, settings, ownerSettings = {}, secretFrom } = preset;
  const { steps, notes, retries, vector } = preset;
  const token = settings.handshake === "meta" ? { verify_token: "a token that you choose" } : {};
  const owned = Object.entries(ownerSettings).map(([key, what]) => [snakeCase(key), what]);
  const more = owned.length === 0 ? token : { settings: Object.fromEntries(owned) };
  const body = { name: title, preset: name, secret: "…", ...more };
  const rows = Object.entries(settings).map(
    ([key, value]) => `| \`${snakeCase(key)}\` | \`${JSON.stringify(onWire(value))}\` |`,
  );
  const headers = Object.entries(vector.headers).map(([header, value]) => `${header}: ${value}\n`);
  const own = `The preset has the scheme \`${scheme}\``;
  return `### ${title}

[${title}'s own page](${documentation}), as documented on ${documentedOn}. Where the secret is: ${secretFrom}.

\`\`\`json
${JSON.stringify(body)}
\`\`\`

${steps.map((step) => `- ${step}`).join("\n")}

${rows.length === 0 ? `${own}.` : `${own} and sets:\n\n| setting | value |\n|---|---|\n${rows.join("\n")}`}

${notes.map((note) => `${note}\n\n`).join("")}Retries of a failed webhook: ${retries}

Repetitions: ${describeRepetitions(scheme, settings)}

A request that verifies, ${originOf(vector)}. Signed at ${new Date(vector.atSeconds * 1000).toISOString()} with the secret \`${vector.secret}\`:

\`\`\`text
POST ${vector.url ?? "/ingest/src_…"}
${headers.join("")}
${vector.body}
\`\`\`
`;
}

function originOf({ made, from }: Preset["vector"]): string {
  return made === "computed" ? `computed by the documented rule: ${from}` : `from ${from}`;
}

function onWire(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), member]));
}
