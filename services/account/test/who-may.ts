import { type AccountState, type Scope, scopes } from "@signalbox/contracts";
import { freshAddress } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";
import { insertClient, openInside } from "./inside.ts";

export interface Operation<For = Scope> {
  readonly scope: For;
  /** A second scope that is needed too. */
  readonly also?: Scope;
  /** The status for a caller with that scope whose account is pending, active, suspended, disabled, deleted. */
  readonly inState: readonly [number, number, number, number, number];
  readonly body?: unknown;
}

export const ownRead = (scope: Scope): Operation => ({ scope, inState: [200, 200, 200, 200, 403] });
export const ownWrite = (body: unknown): Operation => ({
  scope: "account:write",
  inState: [200, 200, 403, 403, 403],
  body,
});
export const adminRead: Operation = { scope: "account:admin", inState: [200, 200, 200, 403, 403] };

export interface Ids {
  readonly accountId: string;
  readonly keyId: string;
  readonly clientId: string;
}

export interface Person extends Ids {
  /** Headers of a new token with these scopes. */
  as(scope: string): Record<string, string>;
}

/** Placeholder for credentials that a pending account does not have. */
export const none = "none";

/** The service, and people whose accounts are in the states of a test. */
export interface WhoMay {
  readonly account: Harness;
  readonly administrator: Record<string, string>;
  /** A new person whose account is in `state`, with an API key and a service client from before. */
  personIn(state: AccountState): Promise<Person>;
  /** The person in `state` who only reads and is refused, so that one is enough for all tests of a file. */
  readerIn(state: AccountState): Promise<Person>;
}

export async function startWhoMay(): Promise<WhoMay> {
  const account = await startAccount({
    "account.require-verified-contact": true,
    // The readers make the requests of a whole table.
    "http.rate-limit.account.requests": 100_000,
  });
  const administrator = { "x-api-key": await account.firstKey() };
  const inside = openInside(account);
  const readers = new Map<AccountState, Promise<Person>>();
  return { account, administrator, personIn, readerIn };

  function readerIn(state: AccountState): Promise<Person> {
    const reader = readers.get(state) ?? personIn(state);
    readers.set(state, reader);
    return reader;
  }

  async function personIn(state: AccountState): Promise<Person> {
    const claims = { sub: crypto.randomUUID(), roles: ["admin"] };
    const contact = state === "pending" ? {} : { email: freshAddress(), email_verified: true };
    const all = account.person({ ...claims, ...contact, scope: scopes.join(" ") });
    const { id } = (await account.send("GET", "/api/account/", { headers: all })).body;
    const body = { name: "before", scopes: ["account:security"] };
    const key = await account.send("POST", "/api/account/api-keys/", { headers: all, body });
    const clientId = key.status === 201 ? await insertClient(inside, id, ["account:security"]) : none;
    if (state !== "pending" && state !== "active") {
      const change = { status: state, reason: "x" };
      await account.send("POST", `/api/accounts/${id}/status`, { headers: administrator, body: change });
    }
    // A new token, which no cache holds: its state is the one in the database.
    return {
      accountId: id,
      keyId: key.body.id ?? none,
      clientId,
      as: (scope: string) => account.person({ ...claims, scope }),
    };
  }
}
