import { type AccessKind, type AccountState, accountStateRules, accountStates } from "@signalbox/contracts";
import type { FieldAccess, Resolvers, Routes } from "@signalbox/http";
import { type ServiceDoors, serviceDoors } from "../access/service-doors.ts";
import type { Generator } from "../generator.ts";

type Route = Routes["list"][number];

/** The page of permissions: every route and every field of the graph by its declaration. */
export const accessReference: Generator = {
  name: "access reference",
  kind: "committed",
  folders: async () => [],
  generate: async () => {
    const services = await serviceDoors();
    const parts = await Promise.all(services.map(partOf));
    return new Map([["docs/reference/access.md", page(parts)]]);
  },
};

async function partOf({ service, routes, resolvers }: ServiceDoors): Promise<string> {
  const { routeAccess } = await import("@signalbox/http");
  const routeRows = routes.map((route) => rowOfRoute(route, routeAccess(route.spec.auth, route.method)));
  const { isDeclared } = await import("@signalbox/http");
  const fieldRows = rowsOfFields(resolvers, isDeclared);
  return [
    `## ${service}\n`,
    table("operation", routeRows),
    ...(fieldRows.length > 0 ? [`\n${table("field", fieldRows)}`] : []),
  ].join("\n");
}

const table = (what: string, rows: readonly string[]): string =>
  [`| ${what} | scopes | while the account is | besides |`, "|---|---|---|---|", ...rows].join("\n");

type RouteAccess = ReturnType<typeof import("@signalbox/http")["routeAccess"]>;

function rowOfRoute({ method, path, spec }: Route, access: RouteAccess): string {
  const { rateLimit, idempotent } = spec;
  const besides = [
    ...(access.stepUp ? ["recent sign-in"] : []),
    ...(access.stepUpFor ? [`recent sign-in for ${access.stepUpFor}`] : []),
    ...(access.portal ? ["portal sessions"] : []),
    ...(access.optional && !access.anonymous ? ["also without credentials"] : []),
    ...(idempotent ? ["`Idempotency-Key`"] : []),
    ...(rateLimit === "none" ? ["not rate limited"] : rateLimit ? [`rate limit \`${rateLimit}\``] : []),
  ];
  const operation = `\`${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, "{$1}")}\``;
  if (access.anonymous) return row(operation, "everyone", "–", besides);
  return row(operation, scopesOf(access.scopes), statesOf(statesThatMay(access.access)), besides);
}

type IsDeclared = typeof import("@signalbox/http")["isDeclared"];

function rowsOfFields(resolvers: Resolvers, isDeclared: IsDeclared): string[] {
  return Object.entries(resolvers).flatMap(([type, table]) =>
    Object.entries(table).flatMap(([name, resolve]) =>
      isDeclared(resolve) ? [rowOfField(fieldName(type, name), resolve.declared)] : [],
    ),
  );
}

function rowOfField(field: string, { scopes, access = "read", ofOthers, ...declared }: FieldAccess): string {
  const besides = [
    ...(declared.stepUp ? ["recent sign-in"] : []),
    ...(declared.stepUpFor ? [`recent sign-in for ${declared.stepUpFor}`] : []),
    ...(declared.optional ? ["also without credentials"] : []),
    ...(declared.ownOnly ? ["the account itself alone"] : []),
    ...(ofOthers ? [`other accounts': ${scopesOf(ofOthers.scopes)}`] : []),
  ];
  return row(field, scopesOf(scopes), statesOf(statesThatMay(access)), besides);
}

const fieldName = (type: string, name: string): string =>
  name === "__resolveReference" ? `\`${type}\` by its id` : `\`${type}.${name}\``;

const row = (what: string, scopes: string, states: string, besides: readonly string[]): string =>
  `| ${what} | ${scopes} | ${states} | ${besides.join(", ")} |`;

const scopesOf = (scopes: readonly string[]): string =>
  scopes.length === 0 ? "any credential" : scopes.map((scope) => `\`${scope}\``).join(" and ");

const statesThatMay = (access: AccessKind): AccountState[] =>
  accountStates.filter((state) => accountStateRules[state].may.includes(access));

const statesOf = (states: readonly AccountState[]): string => states.join(", ");

/** Builds the rows of state transitions, with the permitted actors. */
function rowsOfStates(): string[] {
  return accountStates.map((from) => {
    const ways = Object.entries(accountStateRules[from].leavesTo);
    const leads = ways.map(([to, actors]) => `${to} (${actors.join(", ")})`);
    return `| ${from} | ${accountStateRules[from].may.join(", ") || "nothing"} | ${leads.join("; ")} |`;
  });
}

function page(parts: readonly string[]): string {
  return `# Permissions of routes and fields

Every route and every field of the graph by its declaration, which is the enforced one. An unlisted field
is visible to everyone who sees its parent.

A credential has the scopes of its token or key. The account it acts for has a state, which takes precedence over scopes: it
applies in every service within two seconds of its change, also to otherwise valid credentials, and in the service that answered
the change at the next request. Another account's objects read as missing (404, or null). *Recent sign-in* is a sign-in or a confirmed code at most 15 minutes old, or an API key with
\`account:security\`. Where only some changes require one, the route names them, and the graph's mutation has the same
requirements; sending the current value requires none. Allowed callers are still counted, see [requests](requests.md); other policies are
named.

${parts.join("\n\n")}

## States of an account

The permitted access of each state, within the scopes, and the actors of each transition. A deleted account can be restored until its
personal data is erased (\`account.retention-days\`).

| state | may | leads to |
|---|---|---|
${rowsOfStates().join("\n")}
`;
}
