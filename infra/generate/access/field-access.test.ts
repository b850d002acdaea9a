import assert from "node:assert/strict";
import { test } from "node:test";
import { accountStateRules, accountStates } from "@signalbox/contracts";
import { isDeclared } from "@signalbox/graphql";
import { serviceDoors } from "./service-doors.ts";

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
