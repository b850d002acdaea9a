import { join } from "node:path";
import { repositoryFolder } from "../engines/engine-folders.ts";
import type { EmbeddedAddresses } from "./start-embedded.ts";

/** A picture that every clone has. */
const photo = join(repositoryFolder, "libs/testing/fixtures/images/photo.jpg");

/** What a person sees when everything runs: where, with which key, and three things to try. */
export function welcome({
  baseUrl,
  links,
  apiKey,
  apiKeyFile,
  replaced,
  startMs,
}: EmbeddedAddresses & { readonly apiKeyFile: string; readonly startMs: number }): string {
  return `${baseUrl}
Signalbox is ready, ${(startMs / 1000).toFixed(1)} s after its start.

  Base URL     ${baseUrl}
${links.map(({ name, url }) => `  ${name.padEnd(13)}${url}`).join("\n")}
  API key      ${apiKey}
               kept in ${apiKeyFile}${replaced ? "\n               It is a new one: the key that was kept there no longer works." : ""}

Try:
  curl -H 'X-API-Key: ${apiKey}' ${baseUrl}/api/account/
  curl -H 'X-API-Key: ${apiKey}' -F 'file=@${photo}' ${baseUrl}/images
  curl -H 'X-API-Key: ${apiKey}' -H 'Content-Type: application/json' \\
       -d '{"query":"{ viewer { id displayName } }"}' ${baseUrl}/graphql

Ctrl-C stops it; the data stay.
`;
}
