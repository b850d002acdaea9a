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

/** A query for every field of the graph that declares access. */
export const fieldReads = ({ account }: Pick<Things, "account">): Readonly<Record<string, string>> => ({
  "Query.viewer": "{ viewer { id displayName contactAddress } }",
  "Query.account": `{ account(id: "${account}") { id displayName } }`,
  "Query.accounts": "{ accounts(first: 100) { edges { node { id } } } }",
  "Query.accountsAuditLog": "{ accountsAuditLog(first: 100) { edges { node { subject } } } }",
  "Query.properties": "{ properties { name } }",
  "Account.settings": "{ viewer { settings { locale } } }",
  "Account.administration": "{ viewer { administration { roles } } }",
  "Account.auditLog": "{ viewer { auditLog(first: 100) { edges { node { subject } } } } }",
  "Account.apiKeys": "{ viewer { apiKeys(first: 100) { edges { node { id } } } } }",
  "Account.serviceClients": "{ viewer { serviceClients(first: 100) { edges { node { id } } } } }",
  "Account.signIns": "{ viewer { signIns(first: 100) { edges { node { id } } } } }",
  "Account.passkeys": "{ viewer { passkeys(first: 100) { edges { node { id } } } } }",
  "Account.images": "{ viewer { images(first: 100) { edges { node { id } } } } }",
  "Account.webhookEndpoints": "{ viewer { webhookEndpoints(first: 100) { edges { node { id } } } } }",
  "Account.webhookDeliveries": "{ viewer { webhookDeliveries(first: 100) { edges { node { id } } } } }",
  "Account.webhookAttempts": "{ viewer { webhookAttempts(first: 100) { edges { node { id delivery { id } } } } } }",
  "Account.webhookEvents": "{ viewer { webhookEvents(first: 100) { edges { node { id body } } } } }",
  "Account.webhookEventTypes": "{ viewer { webhookEventTypes(first: 100) { edges { node { name } } } } }",
  "Account.webhookReplays": "{ viewer { webhookReplays(first: 100) { edges { node { id } } } } }",
  "Account.webhookBookmarks": "{ viewer { webhookBookmarks(first: 100) { edges { node { id name } } } } }",
  "Account.webhookOutages": "{ viewer { webhookOutages(first: 100) { edges { node { id } } } } }",
  "Account.webhookSources": "{ viewer { webhookSources(first: 100) { edges { node { id } } } } }",
});
