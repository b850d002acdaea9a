import assert from "node:assert/strict";
import { test } from "node:test";
import { actionsOf } from "@signalbox/contracts";
import { isDeclared } from "@signalbox/graphql";
import { routeAccess } from "@signalbox/http";
import { serviceDoors } from "./service-doors.ts";

/** The guards of both forms of every operation that REST and the graph have under one name. */
async function pairs() {
  const services = await serviceDoors();
  return services.flatMap(({ routes, resolvers }) =>
    Object.entries(resolvers.Mutation ?? {}).flatMap(([name, resolve]) => {
      const route = routes.find(({ spec }) => spec.operationId === name);
      if (!route || !isDeclared(resolve)) return [];
      const { scopes, access = "write", stepUp = false, stepUpFor = null, audit } = resolve.declared;
      const rest = routeAccess(route.spec.auth, route.method);
      return [
        {
          name,
          graph: { scopes, access, stepUp, stepUpFor, audited: actionsOf(audit) },
          rest: {
            scopes: rest.scopes,
            access: rest.access,
            stepUp: rest.stepUp,
            stepUpFor: rest.stepUpFor,
            audited: actionsOf(route.spec.audit),
          },
        },
      ];
    }),
  );
}

test("an operation of both edges has the same guards and the same audit on each", async () => {
  const found = await pairs();
  assert.ok(found.length > 40, `only ${found.length} pairs were found`);
  for (const { name, graph, rest } of found) assert.deepEqual(graph, rest, name);
});
