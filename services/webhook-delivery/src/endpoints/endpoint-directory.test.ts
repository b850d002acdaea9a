import assert from "node:assert/strict";
import { test } from "node:test";
import { createEndpointDirectory } from "./endpoint-directory.ts";

const ofOperators = () => Promise.reject(new Error("not expected to be called"));
const endpointsOf = (accountId: string) => ({ accountId, fingerprint: "1", endpoints: [] });

test("an account that is forgotten during a look-up of others is still returned", async () => {
  const asked: string[][] = [];
  const lookUp = Promise.withResolvers<void>();
  const directory = createEndpointDirectory(
    {
      ofAccounts: async (accountIds) => {
        asked.push([...accountIds]);
        if (accountIds.includes("b")) await lookUp.promise;
        return accountIds.map(endpointsOf);
      },
      ofOperators,
    },
    10,
  );
  await directory.ofAccounts(["a"]);
  const both = directory.ofAccounts(["a", "b"]);
  directory.forget(["a"]);
  lookUp.resolve();
  assert.deepEqual((await both).map(({ accountId }) => accountId).sort(), ["a", "b"]);
  assert.deepEqual(asked, [["a"], ["b"]]);
});

test("more accounts than fit into memory are returned too", async () => {
  const directory = createEndpointDirectory(
    { ofAccounts: async (accountIds) => accountIds.map(endpointsOf), ofOperators },
    1,
  );
  assert.equal((await directory.ofAccounts(["a", "b", "c"])).length, 3);
});
