/** A way through the files of one real operation. */
interface Walk {
  readonly name: string;
  /** The files in the order they are met, each with a word that stands in it because of this walk. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Tour {
  readonly name: string;
  readonly filesMax: number;
  readonly walks: readonly Walk[];
}

const account = "services/account/src";
const images = "services/images/src/images";
const ingest = "services/webhook-ingest/src";

/**
 * Nobody can compute what a reader has to open, so the walks are stated. The check holds them to the code: a file that is
 * gone, or that no longer has its word, breaks the bar until the walk is told again.
 */
export const tours: readonly Tour[] = [
  {
    name: "files from a route to its rule",
    filesMax: 3,
    walks: [
      {
        name: "PATCH /api/account/api-keys/:key_id",
        files: {
          [`${account}/credentials/credential-routes.ts`]: "rename",
          [`${account}/credentials/credentials.ts`]: "requireStepUp",
        },
      },
      {
        name: "PATCH /api/v1/webhooks/sources/:id",
        files: {
          [`${ingest}/sources/source-routes.ts`]: "update",
          [`${ingest}/sources/sources.ts`]: "assertUsable",
          [`${ingest}/sources/source-settings.ts`]: "assertUsable",
        },
      },
      {
        name: "PATCH /api/account/",
        files: {
          [`${account}/accounts/account-routes.ts`]: "update",
          [`${account}/accounts/accounts.ts`]: "changeAccount",
          [`${account}/accounts/change-account.ts`]: "changeAccount",
        },
      },
    ],
  },
  {
    name: "files of one CRUD operation",
    filesMax: 6,
    walks: [
      {
        name: "rename an API key",
        files: {
          [`${account}/credentials/credential-routes.ts`]: "rename",
          [`${account}/credentials/credential-bodies.ts`]: "CredentialPatch",
          [`${account}/credentials/credential-apis.ts`]: "rename",
          [`${account}/credentials/credentials.ts`]: "rename",
          [`${account}/credentials/api-key.ts`]: "viewApiKey",
          [`${account}/credentials/credential-store.ts`]: "save",
        },
      },
      {
        name: "update a webhook source",
        files: {
          [`${ingest}/sources/source-routes.ts`]: "UpdateSourceBody",
          [`${ingest}/sources/source-bodies.ts`]: "UpdateSourceBody",
          [`${ingest}/sources/sources.ts`]: "update",
          [`${ingest}/sources/source.ts`]: "sourceUpdated",
          [`${ingest}/sources/source-settings.ts`]: "mergeSettings",
          [`${ingest}/sources/source-store.ts`]: "save",
        },
      },
    ],
  },
  {
    name: "files that a plain new field touches",
    filesMax: 9,
    walks: [
      {
        name: "timezone of an account",
        files: {
          "libs/contracts/src/resources/account.ts": "timezone",
          "services/account/prisma/schema.prisma": "timezone",
          "services/account/schema.graphql": "timezone",
          [`${account}/accounts/account.ts`]: "timezone",
          [`${account}/accounts/account-body.ts`]: "timezone",
          [`${account}/accounts/account-store.ts`]: "timezone",
          [`${account}/accounts/change-account.ts`]: "timezone",
          [`${account}/accounts/first-account.ts`]: "timezone",
          "services/account/test/fields.int.test.ts": "timezone",
        },
      },
      {
        // docs/how-to/add-a-field.md goes this way.
        name: "caption of an image",
        files: {
          "libs/contracts/src/resources/image.ts": "caption",
          "services/images/prisma/schema.prisma": "caption",
          "services/images/schema.graphql": "caption",
          [`${images}/image.ts`]: "caption",
          [`${images}/image-fields.ts`]: "caption",
          [`${images}/image-store.ts`]: "caption",
          [`${images}/image-view.ts`]: "caption",
          [`${images}/image.test.ts`]: "caption",
          "services/images/test/records.int.test.ts": "caption",
        },
      },
    ],
  },
];

/** The places of the walks that the code no longer has. `read` gives the text of a file, null when there is none. */
export function lostPlaces({ walks }: Tour, read: (path: string) => string | null): string[] {
  return walks.flatMap(({ name, files }) =>
    Object.entries(files)
      .filter(([path, word]) => !new RegExp(`\\b${word}\\b`).test(read(path) ?? ""))
      .map(([path, word]) => `${path}: no ${word}, which "${name}" looks for there`),
  );
}
