import { type AccessKind, accountStateRules, accountStates } from "@signalbox/contracts";
import { type FieldAccess, isDeclared, type Resolvers, type Routes, routeAccess } from "@signalbox/http";
import { routeName, type ServiceDoors, serviceDoors } from "../access/service-doors.ts";
import { fileGenerator } from "../generator.ts";

type Route = Routes["list"][number];

/** The page of permissions: every route and every field of the graph by its declaration. */
export const accessReference = fileGenerator("docs/reference/access.md", async () =>
  page((await serviceDoors()).map(partOf)),
);

function partOf({ service, routes, resolvers }: ServiceDoors): string {
  const operations = routes.map((route) => ({ name: `\`${routeName(route)}\``, required: requirementsOfRoute(route) }));
  return `## ${service}\n\n${table([...operations, ...fieldsOf(resolvers)])}`;
}

/** An operation or a field with its scopes and what it requires besides. */
interface Required {
  readonly name: string;
  readonly required: readonly [scopes: string, besides: string];
}

/** Builds a row for each requirement, with those that have it. */
function table(all: readonly Required[]): string {
  const groups = Map.groupBy(all, ({ required }) => required.join(" | "));
  const rows = [...groups].map(([required, same]) => row([required, same.map(({ name }) => name).join("<br> ")]));
  return [row(["scopes", "besides", "routes and fields"]), "|---|---|---|", ...rows].join("\n");
}

function requirementsOfRoute({ method, spec }: Route): Required["required"] {
  const { rateLimit, idempotent } = spec;
  const access = routeAccess(spec.auth, method);
  const isUsuallyIdempotent = ["post", "patch", "delete"].includes(method);
  const besides = [
    ...(access.anonymous ? [] : accessOtherThan(method === "get" ? "read" : "write", access.access)),
    ...(access.stepUp ? ["recent sign-in"] : []),
    ...(access.stepUpFor ? [`recent sign-in for ${access.stepUpFor}`] : []),
    ...(access.portal ? ["portal sessions"] : []),
    ...(access.ownAccount ? ["no members"] : []),
    ...(access.optional && !access.anonymous ? ["also without credentials"] : []),
    ...(idempotent && !isUsuallyIdempotent ? ["`Idempotency-Key`"] : []),
    ...(isUsuallyIdempotent && !idempotent ? ["no `Idempotency-Key`"] : []),
    ...(rateLimit === "none" ? ["not rate limited"] : rateLimit ? [`rate limit \`${rateLimit}\``] : []),
  ];
  return [access.anonymous ? "everyone" : eitherOf(access), besides.join(", ")];
}

function fieldsOf(resolvers: Resolvers): Required[] {
  return Object.entries(resolvers).flatMap(([type, fields]) =>
    Object.entries(fields).flatMap(([name, resolve]) =>
      isDeclared(resolve)
        ? [{ name: fieldName(type, name), required: requirementsOf(resolve.declared, type === "Mutation") }]
        : [],
    ),
  );
}

function requirementsOf(
  { access = "read", ofOthers, ...declared }: FieldAccess,
  isMutation: boolean,
): Required["required"] {
  const besides = [
    ...accessOtherThan(isMutation ? "write" : "read", access),
    ...(declared.stepUp ? ["recent sign-in"] : []),
    ...(declared.stepUpFor ? [`recent sign-in for ${declared.stepUpFor}`] : []),
    ...(declared.optional ? ["also without credentials"] : []),
    ...(declared.ownOnly ? ["the account itself alone"] : []),
    ...(declared.ownAccount ? ["no members"] : []),
    ...(ofOthers ? [`other accounts': ${scopesOf(ofOthers.scopes)}`] : []),
  ];
  return [eitherOf(declared), besides.join(", ")];
}

const accessOtherThan = (usual: AccessKind, access: AccessKind): string[] =>
  access === usual ? [] : [`\`${access}\``];

const fieldName = (type: string, name: string): string =>
  name === "__resolveReference" ? `\`${type}\` by its id` : `\`${type}.${name}\``;

const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

const scopesOf = (scopes: readonly string[]): string =>
  scopes.length === 0 ? "any credential" : scopes.map((scope) => `\`${scope}\``).join(" and ");

interface Either {
  readonly scopes: readonly string[];
  readonly scopesOfOwn?: readonly string[] | null;
}

const eitherOf = ({ scopes, scopesOfOwn }: Either): string =>
  scopesOfOwn ? `${scopesOf(scopes)}, or ${scopesOf(scopesOfOwn)} for the own account` : scopesOf(scopes);

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

Every route and every field of the graph by its declaration. An unlisted field is visible to everyone who sees its parent. Another account's objects read as missing (404, or null).

A credential has the scopes of its token or key. The [state of its account](#states-of-an-account) takes precedence over them: a
\`GET\` or a field needs an account that may \`read\`, another method or a mutation one that may \`write\`, unless the tables name another
access. A change of the state applies in every service within two seconds, and at the next request in the service that answered it.
*No members* marks what belongs to the person of the account: people who act for it as members are refused.

*Recent sign-in* is a sign-in or a confirmed code at most 15 minutes old, or an API key with \`account:security\`. Where only some
changes require one, the route names them; sending the current value requires none.
\`POST\`, \`PATCH\` and \`DELETE\` accept an \`Idempotency-Key\` unless the table says no. Allowed callers are still counted, see
[requests](requests.md); other policies are named.

${parts.join("\n\n")}

## States of an account

The permitted access of each state, within the scopes, and the actors of each transition. A deleted account can be restored until its
personal data is erased (\`account.retention-days\`).

| state | may | leads to |
|---|---|---|
${rowsOfStates().join("\n")}
`;
}
