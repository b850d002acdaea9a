import type { Principal } from "@signalbox/auth";
import type { z } from "zod";
import type { Present } from "./account-body.ts";
import type { AccountStore } from "./account-store.ts";

/** A body with the schema for everybody, and the one for a caller whose present values are fine to send back. */
export interface CallersBody<Schema extends z.ZodType> {
  readonly json: Schema;
  readonly forCaller: (principal: Pick<Principal, "accountId">) => Promise<Schema>;
}

export function callersBody<Schema extends z.ZodType>(
  accounts: Pick<AccountStore, "find">,
  schemaFor: (present: Present) => Schema,
): CallersBody<Schema> {
  return {
    json: schemaFor(null),
    forCaller: async ({ accountId }) => schemaFor(await accounts.find(accountId)),
  };
}
