import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { accountStates, type Scope, scopes } from "@signalbox/contracts";
import { openInside } from "./inside.ts";
import {
  adminRead,
  type Ids,
  type Operation,
  ownRead,
  ownWrite,
  type Person,
  startWhoMay,
  type WhoMay,
} from "./who-may.ts";

let whoMay: WhoMay;
/** Somebody whom nobody changes. */
let targetReader: Promise<Person>;
before(async () => {
  whoMay = await startWhoMay();
  targetReader = whoMay.personIn("active");
});
after(() => whoMay.account.close());

interface Field {
  /** Null when any credential is enough. */
  readonly scope: Scope | null;
  readonly inState: Operation["inState"];
  readonly text: (ids: Ids) => string;
  /** The answer to an admitted caller: nothing to do, impossible here, or unknown id. */
  readonly admitted?: "CONFLICT" | "NOT_FOUND";
}

const adminWrite = [403, 200, 403, 403, 403] as const;
const securely = [403, 200, 403, 403, 403] as const;

/**
 * The permissions of every field. A root field, field of `Account` or entity that is missing here fails the test below.
 */
const fields: Readonly<Record<string, Field>> = {
  "Query.viewer": { ...ownRead("account:read"), scope: null, text: () => "{ viewer { id } }" },
  "Query.account": { ...adminRead, text: ({ accountId }) => `{ account(id: "${accountId}") { id } }` },
  "Query.accountsAuditLog": { ...adminRead, text: () => "{ accountsAuditLog(first: 1) { edges { cursor } } }" },
  "Query.accounts": { ...adminRead, text: () => "{ accounts(first: 1) { edges { cursor } } }" },
  "Query.invitation": { ...adminRead, text: () => '{ invitation(id: "inv_x") { id } }' },
  "Query.invitations": { ...adminRead, text: () => "{ invitations(first: 1) { edges { cursor } } }" },
  "Mutation.createInvitation": {
    scope: "account:admin",
    inState: adminWrite,
    text: () => "mutation { createInvitation(input: {}) { errors { message } } }",
  },
  "Mutation.resendInvitation": {
    scope: "account:admin",
    inState: adminWrite,
    text: () => `mutation { resendInvitation(input: { id: "inv_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.revokeInvitation": {
    scope: "account:admin",
    inState: adminWrite,
    text: () => `mutation { revokeInvitation(input: { id: "inv_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.changeMemberRole": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { changeMemberRole(input: { id: "mbr_x", role: "viewer" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.removeMember": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { removeMember(input: { id: "mbr_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.leaveAccount": {
    ...ownWrite(null),
    text: () => `mutation { leaveAccount(input: { id: "mbr_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.updateAccount": {
    ...ownWrite(null),
    text: () => `mutation { updateAccount(input: { displayName: "Eve" }) { errors { message } } }`,
  },
  "Mutation.updateAccountSettings": {
    ...ownWrite(null),
    text: () => `mutation { updateAccountSettings(input: { locale: "de" }) { errors { message } } }`,
  },
  "Mutation.createApiKey": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { createApiKey(input: { name: "x", scopes: ["account:security"] }) { key } }`,
  },
  "Mutation.renameApiKey": {
    scope: "account:security",
    inState: securely,
    text: ({ keyId }) => `mutation { renameApiKey(input: { id: "${keyId}", name: "y" }) { apiKey { id } } }`,
  },
  "Mutation.rotateApiKey": {
    scope: "account:security",
    inState: securely,
    text: ({ keyId }) => `mutation { rotateApiKey(input: { id: "${keyId}" }) { key } }`,
  },
  "Mutation.revokeApiKey": {
    scope: "account:security",
    inState: securely,
    text: ({ keyId }) => `mutation { revokeApiKey(input: { id: "${keyId}" }) { apiKey { id } } }`,
  },
  "Mutation.createServiceClient": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { createServiceClient(input: { name: "x", scopes: ["account:security"] }) { clientSecret } }`,
    admitted: "CONFLICT",
  },
  "Mutation.renameServiceClient": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) =>
      `mutation { renameServiceClient(input: { id: "${clientId}", name: "y" }) { serviceClient { id } } }`,
  },
  "Mutation.rotateServiceClientSecret": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) => `mutation { rotateServiceClientSecret(input: { id: "${clientId}" }) { clientSecret } }`,
  },
  "Mutation.deletePreviousServiceClientSecrets": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) =>
      `mutation { deletePreviousServiceClientSecrets(input: { id: "${clientId}" }) { serviceClientId } }`,
  },
  "Mutation.revokeServiceClient": {
    scope: "account:security",
    inState: securely,
    text: ({ clientId }) => `mutation { revokeServiceClient(input: { id: "${clientId}" }) { serviceClient { id } } }`,
  },
  "Mutation.confirmContactAddress": {
    ...ownWrite(null),
    text: () => `mutation { confirmContactAddress(input: { code: "12345678" }) { errors { message } } }`,
    admitted: "CONFLICT",
  },
  "Mutation.resendContactCode": {
    ...ownWrite(null),
    text: () => "mutation { resendContactCode { errors { message } } }",
    admitted: "CONFLICT",
  },
  "Mutation.cancelContactChange": {
    ...ownWrite(null),
    text: () => "mutation { cancelContactChange { errors { message } } }",
  },
  "Mutation.renamePasskey": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { renamePasskey(input: { id: "psk_x", name: "y" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.removePasskey": {
    scope: "account:security",
    inState: securely,
    text: () => `mutation { removePasskey(input: { id: "psk_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.createRecoveryCodes": {
    scope: "account:security",
    inState: securely,
    text: () => "mutation { createRecoveryCodes { errors { message } } }",
  },
  "Mutation.endSignIn": {
    ...ownWrite(null),
    scope: "account:security",
    text: () => `mutation { endSignIn(input: { id: "sgn_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.signOutEverywhere": {
    ...ownWrite(null),
    scope: "account:security",
    text: () => "mutation { signOutEverywhere { errors { message } } }",
  },
  "Query.oauthApplications": { ...adminRead, text: () => "{ oauthApplications { edges { cursor } } }" },
  "Query.oauthApplication": { ...adminRead, text: () => `{ oauthApplication(id: "app_x") { id } }` },
  "Mutation.createOauthApplication": {
    scope: "account:admin",
    inState: adminWrite,
    text: () =>
      `mutation { createOauthApplication(input: { name: "x", type: browser, scopes: [], redirectUris: ["https://harbour.example/"] }) { errors { message } } }`,
    admitted: "CONFLICT",
  },
  ...Object.fromEntries(
    [
      ["updateOauthApplication", `, name: "y"`],
      ["deleteOauthApplication", ""],
      ["rotateOauthApplicationSecret", ""],
      ["deletePreviousOauthApplicationSecrets", ""],
    ].map(([name = "", more = ""]) => [
      `Mutation.${name}`,
      {
        scope: "account:admin" as const,
        inState: adminWrite,
        text: () => `mutation { ${name}(input: { id: "app_x"${more} }) { errors { message } } }`,
        admitted: "NOT_FOUND",
      },
    ]),
  ),
  "Mutation.setAccountStatus": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { setAccountStatus(input: { accountId: "${accountId}", status: suspended, reason: "x" }) { errors { message } } }`,
  },
  "Mutation.createAccount": {
    scope: "account:admin",
    inState: [403, 403, 403, 403, 403],
    text: () =>
      `mutation { createAccount(input: { displayName: "x", key: { name: "x", scopes: ["account:read"] } }) { key } }`,
  },
  "Mutation.setAccountRoles": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { setAccountRoles(input: { accountId: "${accountId}", roles: ["owner"] }) { errors { message } } }`,
  },
  "Mutation.revokeAccountApiKey": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId, keyId }) =>
      `mutation { revokeAccountApiKey(input: { accountId: "${accountId}", id: "${keyId}" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.revokeAccountServiceClient": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId, clientId }) =>
      `mutation { revokeAccountServiceClient(input: { accountId: "${accountId}", id: "${clientId}" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.removeAccountPasskey": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { removeAccountPasskey(input: { accountId: "${accountId}", id: "psk_x", reason: "x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.setAccountContactAddress": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { setAccountContactAddress(input: { accountId: "${accountId}", contactAddress: "graph@example.org", reason: "x" }) { errors { message } } }`,
  },
  "Mutation.purgeAccount": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { purgeAccount(input: { accountId: "${accountId}", reason: "x" }) { errors { message } } }`,
    admitted: "CONFLICT",
  },
  "Mutation.endAccountSignIn": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) =>
      `mutation { endAccountSignIn(input: { accountId: "${accountId}", id: "sgn_x" }) { errors { message } } }`,
    admitted: "NOT_FOUND",
  },
  "Mutation.signOutAccount": {
    scope: "account:admin",
    inState: adminWrite,
    text: ({ accountId }) => `mutation { signOutAccount(input: { accountId: "${accountId}" }) { errors { message } } }`,
  },
  ...Object.fromEntries(
    [
      ...[
        "displayName",
        "externalId",
        "contactAddress",
        "contactAddressVerified",
        "pendingContactAddress",
        "locale",
        "timezone",
      ],
      ...["status", "statusChangedAt", "statusReason", "createdAt", "updatedAt"],
    ].map((name) => [`Account.${name}`, { ...ownRead("account:read"), text: () => `{ viewer { ${name} } }` }]),
  ),
  "Account.settings": { ...ownRead("account:read"), text: ({ accountId }) => entity(accountId, "settings { locale }") },
  "Account.credential": { ...ownRead("account:read"), scope: null, text: () => "{ viewer { credential { id } } }" },
  "Account.apiKeys": { ...ownRead("account:read"), text: () => "{ viewer { apiKeys { edges { cursor } } } }" },
  "Account.serviceClients": {
    ...ownRead("account:read"),
    text: () => "{ viewer { serviceClients { edges { cursor } } } }",
  },
  "Account.signIns": { ...ownRead("account:read"), text: () => "{ viewer { signIns { edges { cursor } } } }" },
  "Account.passkeys": { ...ownRead("account:read"), text: () => "{ viewer { passkeys { edges { cursor } } } }" },
  "Account.recoveryCodes": { ...ownRead("account:read"), text: () => "{ viewer { recoveryCodes { left } } }" },
  "Account.members": { ...ownRead("account:read"), text: () => "{ viewer { members { edges { cursor } } } }" },
  "Account.memberships": { ...ownRead("account:read"), text: () => "{ viewer { memberships { edges { cursor } } } }" },
  "Account.auditLog": { ...ownRead("account:read"), text: () => "{ viewer { auditLog { edges { cursor } } } }" },
  "Account.administration": {
    ...adminRead,
    text: ({ accountId }) => entity(accountId, "administration { purgedAt }"),
  },
  "Account.__resolveReference": {
    ...ownRead("account:read"),
    text: ({ accountId }) => entity(accountId, "displayName"),
  },
  "ApiKey.__resolveReference": {
    ...ownRead("account:read"),
    text: ({ keyId }) =>
      `{ _entities(representations: [{ __typename: "ApiKey", id: "${keyId}" }]) { ... on ApiKey { status } } }`,
  },
};

const entity = (id: string, selection: string): string =>
  `{ _entities(representations: [{ __typename: "Account", id: "${id}" }]) { ... on Account { ${selection} } } }`;

test("every root field of the graph, every field of an account that somebody resolves, and every entity is in this table", async () => {
  const type = "{ fields { name args { name } type { kind ofType { kind name } } } }";
  const text = `{ query: __type(name: "Query") ${type} mutation: __type(name: "Mutation") ${type} }`;
  const { data } = await whoMay.account.query(whoMay.administrator, text);
  const named = (prefix: string, { fields: found }: { fields: { name: string }[] }) =>
    found.map(({ name }) => `${prefix}.${name}`).filter((name) => !name.startsWith("Query._"));
  const roots = [...named("Query", data.query), ...named("Mutation", data.mutation)];
  const resolved = Object.entries(openInside(whoMay.account).edges.resolvers)
    .flatMap(([type, table]) => Object.keys(table).map((name) => `${type}.${name}`))
    .filter((name) => name.startsWith("Account.") || name.endsWith(".__resolveReference"));
  assert.deepEqual([...roots, ...resolved].sort(), Object.keys(fields).sort());
});

for (const [field, { scope, inState, text, admitted = "OK" }] of Object.entries(fields)) {
  test(`the GraphQL field ${field} is for ${scope ?? "everybody known"}, in the states that leave room for it`, async () => {
    const codeFor = async (headers: Record<string, string> | null, ids: Ids) =>
      (await whoMay.account.query(headers, text(ids))).errors?.[0].extensions.code ?? "OK";
    const isChange = field.startsWith("Mutation.");
    const active = await whoMay.readerIn("active");
    const own = (person: Person, target: string) => ({
      ...person,
      accountId: /^(Query|Mutation)/.test(field) ? target : person.accountId,
    });
    assert.equal(await codeFor(null, own(active, active.accountId)), "UNAUTHENTICATED");
    const others = scopes.filter((name) => name !== scope).join(" ");
    if (scope !== null) assert.equal(await codeFor(active.as(others), own(active, active.accountId)), "FORBIDDEN");
    for (const [at, state] of accountStates.entries()) {
      const isDone = isChange && inState[at] === 200;
      const [target, person] = isDone
        ? [await whoMay.personIn("active"), await whoMay.personIn(state)]
        : [await targetReader, await whoMay.readerIn(state)];
      // An administrator's field on an entity needs to read the account first.
      const held = scope === "account:admin" ? `account:read ${scope}` : (scope ?? "images:read");
      const expected = inState[at] === 200 ? admitted : "FORBIDDEN";
      const code = await codeFor(person.as(held), own(person, target.accountId));
      // A pending account has no key and no client yet.
      const hasNone = state === "pending" && isChange && expected === "FORBIDDEN";
      assert.equal(hasNone && code === "NOT_FOUND" ? "FORBIDDEN" : code, expected, state);
    }
  });
}

test("what belongs to another account is missing in the graph, for owners of every scope but an administrator's", async () => {
  const [own, other] = [await whoMay.personIn("active"), await whoMay.personIn("active")];
  const stranger = own.as(scopes.filter((name) => name !== "account:admin").join(" "));
  const mutations = ["renameApiKey", "rotateApiKey", "revokeApiKey"];
  const ofSecrets = ["rotateServiceClientSecret", "deletePreviousServiceClientSecrets"];
  const ofClients = ["renameServiceClient", ...ofSecrets, "revokeServiceClient"];
  for (const field of [...mutations, ...ofClients]) {
    const { errors } = await whoMay.account.query(stranger, fields[`Mutation.${field}`]?.text(other) ?? "");
    assert.equal(errors?.[0].extensions.code, "NOT_FOUND", field);
  }
  const lists = ["apiKeys", "serviceClients", "signIns", "auditLog"].map((name) => `${name} { edges { cursor } }`);
  for (const selection of ["settings { locale }", ...lists]) {
    const { data } = await whoMay.account.query(stranger, entity(other.accountId, selection));
    assert.deepEqual(data._entities, [null], selection);
  }
  const { data } = await whoMay.account.query(stranger, fields["ApiKey.__resolveReference"]?.text(other) ?? "");
  assert.deepEqual(data._entities, [null]);
  const kept = await whoMay.account.send("GET", `/api/account/api-keys/${other.keyId}`, {
    headers: other.as("account:read"),
  });
  assert.deepEqual([kept.body.status, kept.body.name], ["active", "before"]);
});
