import assert from "node:assert/strict";
import { eventually } from "@signalbox/testing";
import { type ClientRequest, expectStatus } from "../journey/client.ts";
import type { System } from "../systems/system.ts";
import type { Verdict } from "./attempts.ts";
import { activates, type Headers, makeKey, newPerson, type OidcIssuer, owner, type Person, verdict } from "./people.ts";

/** Repetitions of each change, a thousand in total. */
const timesEach = 100;
/** People who do it concurrently. */
const lanes = 5;

/** A person with a token and a key, and an administrator. */
interface Round {
  readonly system: System;
  readonly person: Person;
  readonly key: { readonly id: string; readonly headers: Headers };
  readonly administrator: Headers;
}

interface Change {
  /** Makes the change with one request. */
  readonly make: (round: Round) => Promise<void>;
  /** The service that answers it, and so must enforce it at once. */
  readonly by: "account" | "gateway";
  /** The credentials of the next request. */
  readonly next: (round: Round) => Headers;
  readonly verdict: Verdict;
  /** Each repetition needs a new person: the change ends their token. */
  readonly endsToken?: true;
}

const ofKey = ({ key }: Round): Headers => key.headers;
const ofToken = ({ person }: Round): Headers => person.token;

async function asks(system: System, who: Headers, path: string, request: ClientRequest, status: number): Promise<void> {
  expectStatus(await owner(system, who)(path, request), status);
}

/** Sends a mutation and expects it to succeed. */
async function mutates(system: System, who: Headers, mutation: string): Promise<void> {
  const { json, bytes } = expectStatus(
    await owner(system, who)("/graphql", { body: { query: `mutation { ${mutation} }` } }),
    200,
  );
  assert.ok(json.errors === undefined && json.extensions === undefined, bytes.toString("utf8"));
}

const changes: Readonly<Record<string, Change>> = {
  "a key is revoked": {
    make: ({ system, person, key }) =>
      asks(system, person.token, `/api/account/api-keys/${key.id}`, { method: "DELETE" }, 204),
    by: "account",
    next: ofKey,
    verdict: "unauthorized",
  },
  "a key is rotated without an overlap": {
    make: ({ system, person, key }) =>
      asks(system, person.token, `/api/account/api-keys/${key.id}/rotate`, { body: { overlap_seconds: 0 } }, 201),
    by: "account",
    next: ofKey,
    verdict: "unauthorized",
  },
  "a key revokes itself": {
    make: ({ system, key }) => asks(system, key.headers, "/api/account/current-api-key/", { method: "DELETE" }, 204),
    by: "account",
    next: ofKey,
    verdict: "unauthorized",
  },
  "the owner disables the account": {
    make: ({ system, person }) =>
      asks(system, person.token, "/api/account/status/", { body: { status: "disabled" } }, 200),
    by: "account",
    next: ofKey,
    verdict: "account_disabled",
  },
  "the owner deletes the account": {
    make: ({ system, person }) => asks(system, person.token, "/api/account/", { method: "DELETE" }, 204),
    by: "account",
    next: ofToken,
    verdict: "account_deleted",
  },
  "the owner signs out everywhere": {
    make: ({ system, person }) => asks(system, person.token, "/api/account/sign-ins/", { method: "DELETE" }, 204),
    by: "account",
    next: ofToken,
    verdict: "unauthorized",
    endsToken: true,
  },
  "the owner signs out everywhere by the graph": {
    make: ({ system, person }) => mutates(system, person.token, "signOutEverywhere { account { id } }"),
    by: "gateway",
    next: ofToken,
    verdict: "unauthorized",
    endsToken: true,
  },
  "an administrator suspends the account by the graph": {
    make: ({ system, person, administrator }) =>
      mutates(
        system,
        administrator,
        `setAccountStatus(input: { accountId: "${person.accountId}", status: suspended, reason: "x" }) { account { id } }`,
      ),
    by: "gateway",
    next: ofToken,
    verdict: "account_suspended",
  },
  "a key is revoked by the graph": {
    make: ({ system, person, key }) =>
      mutates(system, person.token, `revokeApiKey(input: { id: "${key.id}" }) { apiKey { id } }`),
    by: "gateway",
    next: ofKey,
    verdict: "unauthorized",
  },
  "a key is rotated by the graph without an overlap": {
    make: ({ system, person, key }) =>
      mutates(system, person.token, `rotateApiKey(input: { id: "${key.id}", overlapSeconds: 0 }) { apiKey { id } }`),
    by: "gateway",
    next: ofKey,
    verdict: "unauthorized",
  },
};

/** Account answers, so the gateway may take its two seconds. */
async function letsInAgain(system: System, { accountId, token, key }: Person): Promise<void> {
  await activates(system, accountId);
  assert.equal(await verdict(system, "account", token), "let in");
  for (const headers of [token, key])
    await eventually(async () => (await verdict(system, "gateway", headers)) === "let in");
}

/**
 * Proves that the service that answered a change enforces it on the very next request, a thousand times of a thousand.
 */
export async function holdAtOnce(system: System, issuer: OidcIssuer): Promise<void> {
  const administrator = { "x-api-key": system.apiKey };
  const wrong: string[] = [];
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      const lasting = await newPerson(system, issuer);
      for (const [name, change] of Object.entries(changes)) {
        for (let time = 0; time < timesEach / lanes; time++) {
          const person = change.endsToken ? await newPerson(system, issuer) : lasting;
          const round = { system, person, administrator, key: await makeKey(system, person.token) };
          const next = change.next(round);
          // Fills the service's cache for this credential.
          assert.equal(await verdict(system, change.by, next), "let in");
          await change.make(round);
          const found = await verdict(system, change.by, next);
          if (found !== change.verdict) wrong.push(`${name}: ${found}`);
          if (change.verdict.startsWith("account_")) await letsInAgain(system, person);
        }
      }
    }),
  );
  assert.deepEqual(wrong, []);
}
