import type { Headers } from "../world.ts";
import { type Attempt, type Recipe, type Recipes, rest } from "./attempt.ts";

/** A read of a new account, by an administrator who has read nothing yet: a repetition within a minute has no entry. */
const reading =
  (make: (administrator: { readonly headers: Headers }, id: string) => Attempt): Recipe =>
  async ({ person, secondAdministrator, send }) => {
    const headers = secondAdministrator();
    await send(headers, "/api/account/");
    return make({ headers }, (await person()).id);
  };

const query = ({ headers: by }: { readonly headers: Headers }, text: string): Attempt => ({
  by,
  path: "/graphql",
  request: { body: { query: `{ ${text} }` } },
});

/** Recipes of the reads by administrators that leave an entry. */
export const administrationRecipes: Recipes = {
  "GET /api/accounts/": reading((by) => rest(by, "GET", "/api/accounts/")),
  "GET /api/accounts/{account_id}": reading((by, id) => rest(by, "GET", `/api/accounts/${id}`)),
  "GET /api/accounts/audit/": reading((by) => rest(by, "GET", "/api/accounts/audit/")),
  "GET /api/accounts/{account_id}/audit/": reading((by, id) => rest(by, "GET", `/api/accounts/${id}/audit/`)),
  "Query.account": reading((by, id) => query(by, `account(id: "${id}") { status }`)),
  "Account.auditLog": reading((by, id) => ({
    ...query(by, `account(id: "${id}") { auditLog(first: 1) { edges { node { id } } } }`),
    besides: ["account.read"],
  })),
  "Query.accounts": reading((by) => query(by, "accounts(first: 1) { edges { node { id } } }")),
  "Query.accountsAuditLog": reading((by) => query(by, "accountsAuditLog(first: 1) { edges { node { id } } }")),
};
