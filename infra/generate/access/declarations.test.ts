import assert from "node:assert/strict";
import { test } from "node:test";
import { accountStateRules, accountStates, actionsOf, auditActions } from "@signalbox/contracts";
import { isDeclared, routeAccess } from "@signalbox/http";
import { Kind, type ObjectTypeDefinitionNode, parse } from "graphql";
import { supergraph } from "../generators/supergraph.ts";
import { serviceDoors, writesOf } from "./service-doors.ts";

/**
 * Fields whose API is at the management address, which has no document; and the look-up by id, which only a graph has.
 */
const onlyInGraph = [
  "node",
  ...["properties", "setProperty", "unsetProperty", "setProperties", "rollback", "propertyHistory"],
  ...["proposals", "changeProposal", "changeProposals", "proposeChange", "approveChange", "withdrawChange"],
  ...["flags", "flagHistory", "setFlag", "archiveFlag"],
];

const operations = (await serviceDoors()).flatMap(({ routes }) =>
  routes.map(({ method, path, spec }) => ({ method, id: spec.operationId, route: `${method} ${path}` })),
);

test("every operation has a unique id", () => {
  assert.deepEqual(
    operations.filter(({ id }) => id === undefined).map(({ route }) => route),
    [],
  );
  const ids = operations.map(({ id }) => id);
  assert.deepEqual(
    ids.filter((id, index) => ids.indexOf(id) !== index),
    [],
  );
});

test("an operation has the same name in REST as in the graph", async () => {
  const graph = await graphNames();
  assert.ok(graph.mutations.length > 15 && graph.reads.length > 8, JSON.stringify(graph));
  const idsOf = (isRead: boolean) =>
    new Set(operations.filter(({ method }) => (method === "get") === isRead).map(({ id }) => id));
  const without = (names: readonly string[], ids: ReadonlySet<string | undefined>) =>
    names.filter((name) => !ids.has(name) && !onlyInGraph.includes(name));
  assert.deepEqual(without(graph.mutations, idsOf(false)), []);
  assert.deepEqual(without(graph.reads, idsOf(true)), []);
});

test("operations only in the API follow the graph's grammar: reads are nouns, changes start with a verb", () => {
  const verb =
    /^(ack|append|bookmark|cancel|change|complete|confirm|create|delete|disable|drop|enable|end|evaluate|extend|follow|import|leave|link|listen|nack|pause|publish|purge|put|receive|reconcile|remove|rename|replace|replay|reprocess|request|resend|resume|retry|reveal|revoke|rotate|run|set|signOut|skip|start|step|test|unlink|update|upload|verify)(?=[A-Z])/;
  const misnamed = operations.filter(
    ({ method, id = "", route }) => verb.test(id) !== (method !== "get" || route === "get /graphql"),
  );
  assert.deepEqual(misnamed, []);
});

/** Lists the mutations of the composed graph, and its reads: the fields of its root and the lists of an account. */
async function graphNames(): Promise<{ mutations: string[]; reads: string[] }> {
  const [sdl = ""] = (await supergraph.generate()).values();
  const types = parse(sdl).definitions.filter((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION);
  const fieldsOf = (name: string) => types.find((type) => type.name.value === name)?.fields ?? [];
  const nameOf = ({ name }: NonNullable<ObjectTypeDefinitionNode["fields"]>[number]) => name.value;
  const lists = fieldsOf("Account").filter((field) =>
    field.arguments?.some((argument) => argument.name.value === "first"),
  );
  return { mutations: fieldsOf("Mutation").map(nameOf), reads: [...fieldsOf("Query"), ...lists].map(nameOf) };
}

/** Actions of the product itself, or of the built-in issuer, which has no routes of ours. */
const withoutRoute = [
  "account.contact_release",
  "account.create_first_link",
  "account.end_other_sign_ins",
  "account.purge",
  "account.use_recovery_code",
  "sign_in",
  "api_key.expire",
  "api_key.use",
  "client.expire",
  "client.use",
  "application.consent",
  "image.erase",
  "invitation.accept",
  "member.join",
  "passkey.add",
  "token.revoke",
  "webhook_endpoint.disable",
  "webhook_event_type.downgrade",
  "property.expire",
  "management.read_env",
  "audit.limit",
];

const writes = (await serviceDoors()).flatMap(writesOf);

test("every write declares its audit entry, or why it leaves none", () => {
  const silent = writes.filter(({ actions, unaudited }) => actions.length === 0 && !unaudited?.trim());
  assert.deepEqual(silent, [], "add `audit` to the declaration, and the action to the table of contracts");
  assert.ok(writes.length > 50, `only ${writes.length} writes were found`);
});

test("every action of the audit belongs to a route or mutation, or to the product itself", () => {
  const declared = new Set<string>(writes.flatMap(({ actions }) => actions));
  const orphans = Object.keys(auditActions).filter((action) => !declared.has(action));
  assert.deepEqual(orphans.sort(), [...withoutRoute].sort());
});

/** The guards of both forms of every operation that REST and the graph have under one name. */
async function pairs() {
  const services = await serviceDoors();
  return services.flatMap(({ routes, resolvers }) =>
    Object.entries(resolvers.Mutation ?? {}).flatMap(([name, resolve]) => {
      const route = routes.find(({ spec }) => spec.operationId === name);
      if (!route || !isDeclared(resolve)) return [];
      const {
        scopes,
        access = "write",
        stepUp = false,
        stepUpFor = null,
        ownAccount = false,
        scopesOfOwn = null,
        audit,
      } = resolve.declared;
      const rest = routeAccess(route.spec.auth, route.method);
      return [
        {
          name,
          graph: { scopes, access, stepUp, stepUpFor, ownAccount, scopesOfOwn, audited: actionsOf(audit) },
          rest: {
            scopes: rest.scopes,
            access: rest.access,
            stepUp: rest.stepUp,
            stepUpFor: rest.stepUpFor,
            ownAccount: rest.ownAccount,
            scopesOfOwn: rest.scopesOfOwn,
            audited: actionsOf(route.spec.audit),
          },
        },
      ];
    }),
  );
}

test("an operation has the same guards and audit on both edges", async () => {
  const found = await pairs();
  assert.ok(found.length > 40, `only ${found.length} pairs were found`);
  for (const { name, graph, rest } of found) assert.deepEqual(graph, rest, name);
});

test("every field of the graph that requires a caller checks the state of the account as well", async () => {
  const declared: string[] = [];
  const forbidden: string[] = [];
  for (const { service, resolvers } of await serviceDoors()) {
    for (const [type, fields] of Object.entries(resolvers)) {
      for (const [name, resolve] of Object.entries(fields)) {
        if (!isDeclared(resolve)) continue;
        declared.push(`${service}: ${type}.${name}`);
        const { access = "read" } = resolve.declared;
        const letIn = accountStates.filter((state) => accountStateRules[state].may.includes(access));
        // The gateway admits callers with access to their own account, which is all that a disabled one may see.
        const never = service === "account" ? ["deleted"] : ["deleted", "disabled"];
        if (letIn.some((state) => never.includes(state))) forbidden.push(`${service}: ${type}.${name}`);
      }
    }
  }
  assert.deepEqual(forbidden, []);
  assert.ok(declared.length > 30, `only ${declared.length} fields are declared`);
});
