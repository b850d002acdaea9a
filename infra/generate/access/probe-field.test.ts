import assert from "node:assert/strict";
import { test } from "node:test";
import { probeField } from "./probe-field.ts";
import { serviceDoors } from "./service-doors.ts";

test("every field of the graph that asks who is there judges the state of the account as well", async () => {
  const forbidden: string[] = [];
  for (const { service, resolvers } of await serviceDoors()) {
    for (const [type, fields] of Object.entries(resolvers)) {
      for (const [name, resolve] of Object.entries(fields)) {
        const access = await probeField(resolve);
        if (access === null) continue;
        // The gateway lets in whoever may see their own account, and that is all a disabled one may see.
        const never = service === "account" ? ["deleted"] : ["deleted", "disabled"];
        if (access.states.some((state) => never.includes(state))) forbidden.push(`${service}: ${type}.${name}`);
      }
    }
  }
  assert.deepEqual(forbidden, []);
});
