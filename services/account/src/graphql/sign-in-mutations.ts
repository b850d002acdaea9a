import { mutation } from "@signalbox/graphql";
import { writeRow } from "@signalbox/storage";
import { z } from "zod";
import type { Verbs } from "../verbs.ts";
import { missing } from "./account-resolvers.ts";
import type { AccountLoaders } from "./subgraph.ts";

/** The sign-ins of the account, as its owner ends them. */
export function signInMutations({ pool, accounts, signIns }: Verbs) {
  return {
    Mutation: {
      signOutEverywhere: mutation<AccountLoaders, object, object>(
        { scopes: ["account:security"], access: "own-account:write", input: z.object({}), payload: "account" },
        async (_input, { caller }) => {
          const written = await writeRow(pool, {
            lock: (tx) => accounts.lock(tx, caller.accountId),
            change: (tx, account) => signIns.signOutEverywhere(tx, caller, account),
          });
          return written?.result ?? missing();
        },
      ),
    },
  };
}
