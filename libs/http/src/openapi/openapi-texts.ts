/** Describes the API as a whole, for the document of every service. */
export const apiDescription = `Signalbox manages accounts, images, configuration and webhooks, and publishes events for every change.

Send a credential with every request that is not public: an API key as \`X-API-Key\`, or a JWT or key as \`Authorization: Bearer\`.
Every error has the same body; branch on \`error.code\`, and quote \`error.request_id\` in reports.
Lists have \`items\`, \`has_more\` and, before the last page, \`next_cursor\`.
POST, PATCH and DELETE take an \`Idempotency-Key\`; PUT, PATCH and DELETE take \`If-Match\`.
The guide, all error codes and the events are at \`/docs\`.`;

/** The operator runs the deployment, so a document can name no address. */
export const contact = { name: "The operator of this deployment" } as const;

const documents = "documents";
/** A sentence for every tag: the first segment of a path that is neither `api` nor a version. */
const tagTexts: Readonly<Record<string, string>> = {
  account: "The caller's own account: profile, state, settings, logins, keys, clients, audit and export.",
  accounts: "All accounts, for administrators.",
  settings: "The settings of the caller's account (`/api/settings`) and of the deployment (`/api/v2/settings`).",
  oauth: "Applications and sign-in at the built-in issuer.",
  invitations: "Invitations of people to this deployment.",
  config: "Limits, capabilities and features, with a stream of their changes.",
  env: "Metadata of the deployment.",
  status: "The configuration that every instance runs with.",
  ofrep: "Feature flags by the OpenFeature Remote Evaluation Protocol.",
  graphql: "The graph of all services: queries, mutations and subscriptions.",
  images: "Images: upload, import, description, variants, signed URLs and deletion.",
  webhooks: "Webhooks to the caller's endpoints and from its partners' sources.",
  operations: "Instances, groups, outboxes and stuck messages of the whole deployment, for its operators.",
  why: "Traces, by an id, of what led to something and what followed from it.",
  schemas: "The schemas of all events, at their own URLs and by schema registry ids.",
  subjects: "The schemas of all events as subjects of a schema registry, for clients of Kafka.",
  ingest: "The addresses that partners send their webhooks to.",
  [documents]: "The front page, the documentation and related files.",
};

/** Names the tag of a path: its area, or `documents` for pages and files. */
export function tagOf(path: string): string {
  const area = path.split("/").find((part) => part && !/^(api|v\d+)$/.test(part)) ?? documents;
  return area.includes(".") || area === "docs" ? documents : area;
}

/** Describes tags by their names. */
export function describedTags(names: Iterable<string>): { name: string; description?: string }[] {
  return [...new Set(names)].sort().map((name) => {
    const description = tagTexts[name];
    return description === undefined ? { name } : { name, description };
  });
}

/** Describes a parameter of a path by its name and the segment before it: `/sources/:id` is the id of the source. */
export function describePathParameter(path: string, name: string): string {
  const before = path.split(`/:${name}`)[0]?.split("/").at(-1) ?? "";
  const [, owner, part = name] = /^(?:(\w+)_)?(id)$/.exec(name) ?? [];
  return `The ${part} of the ${(owner ?? singular(before)).replaceAll(/[-_]/g, " ")}.`;
}

const singular = (noun: string): string => noun.replace(/ies$/, "y").replace(/s$/, "");
