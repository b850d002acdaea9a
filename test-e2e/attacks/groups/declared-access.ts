import type { Scope } from "@signalbox/contracts";
import { isDeclared, routeAccess } from "@signalbox/http";
import { serviceDoors } from "@signalbox/infra/generate/access/service-doors.ts";
import type { Things } from "./owned-things.ts";

/** The declared access of a route or a field. */
export interface DeclaredAccess {
  readonly scopes: readonly Scope[];
  /** True when it always needs a recent sign-in; a text names the changes that do. */
  readonly stepUp: boolean | string;
  /** True when callers without credentials are admitted. */
  readonly isOpen: boolean;
  /** True when portal sessions are admitted, to the rows of their endpoints. */
  readonly admitsPortal: boolean;
}

/** Reads the declarations of all services: `PATCH /images/{image_id}`, `Mutation.updateImage`. */
export async function declaredAccess(): Promise<ReadonlyMap<string, DeclaredAccess>> {
  const doors = await serviceDoors();
  const routes = doors.flatMap((door) =>
    door.routes.map(({ method, path, spec }) => {
      const { scopes, stepUp, stepUpFor, optional, portal } = routeAccess(spec.auth, method);
      const operation = `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}`;
      const access = { scopes, stepUp: stepUp || (stepUpFor ?? false), isOpen: optional, admitsPortal: portal };
      return [operation, access] as const;
    }),
  );
  const fields = doors.flatMap(({ resolvers }) =>
    Object.entries(resolvers).flatMap(([type, resolveAll]) =>
      Object.entries(resolveAll).flatMap(([name, resolve]) => {
        if (!isDeclared(resolve)) return [];
        const { scopes, stepUp = false, stepUpFor, optional = false } = resolve.declared;
        const access = { scopes, stepUp: stepUp || (stepUpFor ?? false), isOpen: optional, admitsPortal: false };
        return [[`${type}.${name}`, access] as const];
      }),
    ),
  );
  return new Map<string, DeclaredAccess>([...routes, ...fields]);
}

const page = (list: string, item = "id") => `${list}(first: 100) { edges { node { ${item} } } }`;
const ofViewer = (fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([name, query]) => [`Account.${name}`, `{ viewer { ${query} } }`]);
const ofNode = (type: string, id: string, fields: Readonly<Record<string, string>>) =>
  Object.entries(fields).map(([name, query]) => [
    `${type}.${name}`,
    `{ node(id: "${id}") { ... on ${type} { ${query} } } }`,
  ]);
const pages = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, page(name)]));

/** The fields whose ids only administrators have; the list beside each is read. */
const onesOfAdministrators = [
  "Query.invitation",
  "Query.oauthApplication",
  "Query.changeProposal",
  "Query.propertyHistory",
  "Query.flagHistory",
];

/** Tells whether callers read this field of the graph by a name of their own, or by a reference of the gateway. */
export const isFieldRead = (name: string): boolean =>
  !/ |^Mutation\.|\.__resolveReference$/.test(name) && !onesOfAdministrators.includes(name);

/** A query for every field of the graph that declares access. */
export const fieldReads = ({ account, endpoint, pullEndpoint, delivery, source }: Things): Record<string, string> => ({
  "Query.viewer": "{ viewer { id displayName contactAddress } }",
  "Query.account": `{ account(id: "${account}") { id displayName } }`,
  "Query.accounts": `{ ${page("accounts")} }`,
  "Query.accountsAuditLog": `{ ${page("accountsAuditLog", "subject")} }`,
  "Query.invitations": `{ ${page("invitations")} }`,
  "Query.oauthApplications": `{ ${page("oauthApplications")} }`,
  "Query.properties": "{ properties { name } }",
  "Query.proposals": `{ ${page("proposals")} }`,
  "Query.changeProposals": "{ changeProposals { id } }",
  "Query.flags": "{ flags { key } }",
  "Flag.statistics": "{ flags { key statistics { from } } }",
  "Query.serverSettings": "{ serverSettings { enabledIntegrations } }",
  ...Object.fromEntries([
    ...ofViewer({
      ...pages(["apiKeys", "serviceClients", "signIns", "passkeys", "images"]),
      ...pages(["webhookEndpoints", "webhookDeliveries", "webhookReplays", "webhookOutages", "webhookSources"]),
      settings: "settings { locale }",
      administration: "administration { roles }",
      credential: "credential { id }",
      recoveryCodes: "recoveryCodes { left }",
      auditLog: page("auditLog", "subject"),
      members: page("members", "__typename"),
      memberships: page("memberships", "__typename"),
      imageTransformations: page("imageTransformations", "name"),
      imageStatistics: "imageStatistics { from }",
      webhookStatistics: "webhookStatistics { from }",
      webhookSourceStatistics: "webhookSourceStatistics { from }",
      webhookAttempts: page("webhookAttempts", "id delivery { id }"),
      webhookEvents: page("webhookEvents", "id body"),
      webhookEventTypes: page("webhookEventTypes", "name"),
      webhookBookmarks: page("webhookBookmarks", "id name"),
      webhookPresets: page("webhookPresets", "name"),
    }),
    ...ofNode("WebhookEndpoint", endpoint, {
      ...pages(["deliveries", "attempts"]),
      statistics: "statistics { from }",
    }),
    ...ofNode("WebhookEndpoint", pullEndpoint, { consumers: "consumers { name }" }),
    ...ofNode("WebhookDelivery", delivery, pages(["attemptLog"])),
    ...ofNode("WebhookSource", source, {
      ...pages(["received", "rejections", "rejectionRetries", "replays", "reconciliations"]),
      statistics: "statistics { from }",
    }),
  ]),
});
