import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { schemathesis } from "@signalbox/infra/engines/test/python-programs.ts";
import { createOidcIssuer, type OidcIssuer } from "@signalbox/testing";
import { createClient, expectStatus } from "../journey/client.ts";
import { type EmbeddedSystem, startEmbeddedIn } from "../systems/embedded-system.ts";
import { unlimited } from "../systems/system.ts";
import { graphqlCheck, runSchemathesis } from "./schemathesis/run-schemathesis.ts";

/**
 * Operations that end, or may end, the access of their caller: each gets its own caller, so that the others keep
 * theirs.
 */
const endingTheCaller = ["deleteAccount", "disableAccount", "setAccountStatus", "signOutAccount", "signOutEverywhere"];

const opened = new AsyncDisposableStack();
let system: EmbeddedSystem;
let issuer: OidcIssuer;

before(async () => {
  await schemathesis.fetch();
  issuer = await createOidcIssuer();
  opened.defer(() => issuer.close());
  const trusted = { name: "tests", issuer: issuer.issuer, audience: issuer.audience, "roles-claim": "roles" };
  system = await startEmbeddedIn(opened, {
    "auth.issuers": JSON.stringify([trusted]),
    "account.issuer.enabled": "false",
    // Refusals must come from the input, not from rate limits.
    ...unlimited,
    "graphql.limits.cost-window": "1000000",
  });
});
after(() => opened.disposeAsync());

/** Creates an administrator with every scope and a recent sign-in. A token: unlike a key, no operation revokes it. */
async function newAdministrator(): Promise<{ token: string; accountId: string }> {
  const claims = { sub: crypto.randomUUID(), roles: ["admin"], auth_time: Math.floor(Date.now() / 1000) };
  const token = issuer.sign(claims, { expiresInSeconds: 3600 });
  const headers = { authorization: `Bearer ${token}` };
  const account = expectStatus(await createClient(system.baseUrl)("/api/account/", { headers }), 200).json;
  return { token, accountId: account.id };
}

/** Runs every check of schemathesis on the operations that these options select. */
async function findNothing(token: string, selection: readonly string[], service = "account"): Promise<void> {
  const other = await newAdministrator();
  const { passed, report } = await runSchemathesis(
    [
      "run",
      `${system.baseUrl}/openapi/${service}.json`,
      ...["--url", system.baseUrl],
      ...["--header", `Authorization: Bearer ${token}`],
      ...["--checks", "all"],
      "--continue-on-failure",
      ...selection,
    ],
    { OTHER_ACCOUNT_ID: other.accountId },
  );
  assert.ok(passed, report);
}

test("schemathesis finds nothing in any operation of the account service", async () => {
  const { token } = await newAdministrator();
  await findNothing(
    token,
    endingTheCaller.flatMap((operation) => ["--exclude-operation-id", operation]),
  );
  const headers = { authorization: `Bearer ${token}` };
  const account = expectStatus(await createClient(system.baseUrl)("/api/account/", { headers }), 200).json;
  assert.equal(account.status, "active", "the caller was let in to the end, or little would have been tried");
});

for (const operation of endingTheCaller) {
  test(`schemathesis finds nothing in ${operation}`, async () => {
    const { token } = await newAdministrator();
    await findNothing(token, ["--include-operation-id", operation]);
  });
}

test("schemathesis finds nothing in any operation of the config service", async () => {
  const { token } = await newAdministrator();
  // A stream has no end to wait for.
  await findNothing(token, ["--exclude-operation-id", "configurationStream"], "config");
});

/** Bytes have no schema to generate others from, and an import needs a server to import from. */
const notMadeHere: Readonly<Record<string, readonly string[]>> = {
  images: ["appendToImageUpload", "importImage"],
  "webhook-delivery": [],
  "webhook-ingest": [],
};
for (const [service, operations] of Object.entries(notMadeHere)) {
  test(`schemathesis finds nothing in any operation of ${service}`, async () => {
    const { token } = await newAdministrator();
    const excluded = operations.flatMap((operation) => ["--exclude-operation-id", operation]);
    await findNothing(token, ["--phases", "examples,coverage", ...excluded], service);
  });
}

/**
 * The declared error codes of an operation; `INTERNAL`, a server fault, is not among them, and nothing here is
 * unavailable.
 */
const declaredCodes = [
  ...["VALIDATION_FAILED", "NOT_FOUND", "FORBIDDEN", "UNAUTHENTICATED", "CONFLICT", "RATE_LIMITED"],
  ...["DEPTH", "ALIASES", "TOKENS", "ROOT_FIELDS", "DIRECTIVES", "COST", "RESPONSE"].map((limit) => `LIMIT_${limit}`),
];

/** Sends operations generated from the schema, and compares their errors with the declared codes. */
async function findDeclaredCodes(selection: readonly string[]): Promise<void> {
  const [{ token }, other] = [await newAdministrator(), await newAdministrator()];
  const { args, variables } = graphqlCheck(declaredCodes);
  const { passed, report } = await runSchemathesis(
    [
      ...["run", `${system.baseUrl}/graphql`, "--header", `Authorization: Bearer ${token}`],
      ...["--phases", "fuzzing", "--max-examples", "2", "--continue-on-failure"],
      ...[...args, ...selection],
    ],
    { ...variables, OTHER_ACCOUNT_ID: other.accountId },
  );
  assert.ok(passed, report);
}

const endingMutations = ["Mutation.setAccountStatus", "Mutation.signOutAccount", "Mutation.signOutEverywhere"];

test("the graph answers whatever schemathesis makes of its schema with declared codes alone", async () => {
  await findDeclaredCodes(endingMutations.flatMap((name) => ["--exclude-name", name]));
  await findDeclaredCodes(endingMutations.flatMap((name) => ["--include-name", name]));
});

test("nothing that schemathesis sent was taken for a fault of ours", () => {
  assert.doesNotMatch(system.process.stdout, /"level":"error"/);
});
