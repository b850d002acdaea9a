import { join, relative } from "node:path";
import { repositoryFolder } from "../engines/engine-folders.ts";
import type { EmbeddedAddresses } from "./start-embedded.ts";

/** A picture that every clone has. */
const photo = join(repositoryFolder, "libs/testing/fixtures/images/photo.jpg");

/**
 * Writes what a person sees when everything runs: addresses, a key, three things to try, and last what to open first. It fits
 * a terminal of 24 lines and 80 columns; the key is read from its file, because with it no command would fit a line.
 */
export function welcome(
  ready: Omit<EmbeddedAddresses, "firstLink"> & { readonly apiKeyFile: string; readonly startMs: number },
  currentFolder: string,
): string {
  const { baseUrl, links, apiKey, apiKeyFile, replaced, startMs } = ready;
  const near = (path: string) => {
    const shorter = relative(currentFolder, path);
    return shorter.startsWith("..") ? path : shorter;
  };
  // The schema has its place on the first page and in GraphiQL.
  const shown = links.filter(({ name }) => name !== "Schema");
  const note = replaced ? "\n               It is a new one: the key that was kept there no longer works." : "";
  return `${baseUrl}
Signalbox is ready, ${(startMs / 1000).toFixed(1)} s after its start.

  Base URL     ${baseUrl}
${shown.map(({ name, url }) => `  ${name.padEnd(13)}${url}`).join("\n")}
  API key      ${apiKey}
               kept in ${near(apiKeyFile)}${note}

Try:
  export KEY=$(cat '${near(apiKeyFile)}')
  curl -H "X-API-Key: $KEY" ${baseUrl}/api/account/
  curl -H "X-API-Key: $KEY" ${baseUrl}/images \\
       -F 'file=@${near(photo)}'
  curl -H "X-API-Key: $KEY" ${baseUrl}/graphql \\
       --json '{"query":"{ viewer { id displayName } }"}'

Ctrl-C stops it; the data stay.
Open ${baseUrl} in a browser first: it links to all of the above.
`;
}
