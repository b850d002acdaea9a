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
          [`${account}/api-keys/api-key-routes.ts`]: "renameApiKey",
          [`${account}/verbs.ts`]: "renameApiKey",
          [`${account}/api-keys/rename-api-key.ts`]: "requireStepUp",
        },
      },
      {
        name: "PATCH /api/v1/webhooks/sources/:id",
        files: {
          [`${ingest}/sources/source-routes.ts`]: "update",
          [`${ingest}/sources/sources.ts`]: "assertSettingsFit",
          [`${ingest}/sources/source-settings.ts`]: "assertSettingsFit",
        },
      },
      {
        name: "PATCH /api/account/",
        files: {
          [`${account}/accounts/account-routes.ts`]: "callersBody",
          [`${account}/accounts/callers-body.ts`]: "callersBody",
          [`${account}/verbs.ts`]: "updateAccount",
          [`${account}/accounts/update-account.ts`]: "changeAccount",
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
          [`${account}/api-keys/api-key-routes.ts`]: "renameApiKey",
          [`${account}/api-keys/api-key-body.ts`]: "ApiKeyPatch",
          [`${account}/verbs.ts`]: "createRenameApiKey",
          [`${account}/api-keys/rename-api-key.ts`]: "createRenameApiKey",
          [`${account}/api-keys/api-key.ts`]: "viewApiKey",
          [`${account}/api-keys/api-key-store.ts`]: "save",
          [`${account}/api-keys/api-key-events.ts`]: "apiKeyUpdated",
          [`${account}/audit/actor.ts`]: "actorOf",
          [`${account}/audit/audit.ts`]: "record",
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
          [`${account}/accounts/account-routes.ts`]: "timezone",
          [`${account}/accounts/account-store.ts`]: "timezone",
          [`${account}/accounts/change-account.ts`]: "timezone",
          [`${account}/accounts/first-account.ts`]: "timezone",
          [`${account}/settings/settings.ts`]: "timezone",
          [`${account}/settings/settings-routes.ts`]: "timezone",
          [`${account}/graphql/settings-resolvers.ts`]: "timezone",
          "services/account/test/fields.int.test.ts": "timezone",
          "services/account/test/settings.int.test.ts": "timezone",
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
