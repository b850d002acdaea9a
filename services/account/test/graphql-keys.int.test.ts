import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
before(async () => {
  account = await startAccount();
});
after(() => account.close());

type Headers = Record<string, string>;
const codeOf = ({ errors }: { errors?: { extensions: { code: string } }[] }) => errors?.[0]?.extensions.code;
const query: Harness["query"] = (headers, text, variables) => account.query(headers, text, variables);
const stale = () => Math.floor(account.context.clock.nowMs() / 1000) - 901;
const create = `mutation($input: CreateApiKeyInput!) {
  createApiKey(input: $input) { apiKey { id name scopes expiresAt replaces } key errors { field code message } } }`;
const newKey = async (person: Headers, input: object = {}) =>
  (await query(person, create, { input: { name: "deploy", scopes: ["account:read"], ...input } })).data.createApiKey;
const rotate = `mutation($input: RotateApiKeyInput!) {
  rotateApiKey(input: $input) { apiKey { id replaces } key errors { field code message } } }`;

test("a key is made, renamed, rotated and revoked in the graph; it is shown when it is made and never again", async () => {
  const person = account.person();
  const expiresAt = "2099-01-01T00:00:00.000Z";
  const made = await newKey(person, { expiresAt });
  assert.deepEqual([made.apiKey.name, made.apiKey.expiresAt, made.errors], ["deploy", expiresAt, []]);
  const withKey = { "x-api-key": made.key };
  assert.equal((await account.send("GET", "/api/account/", { headers: withKey })).status, 200);

  const rename =
    "mutation($input: RenameApiKeyInput!) { renameApiKey(input: $input) { apiKey { name } errors { field } } }";
  const renamed = await query(person, rename, { input: { id: made.apiKey.id, name: "other" } });
  assert.deepEqual(renamed.data.renameApiKey, { apiKey: { name: "other" }, errors: [] });
  const nameless = await query(person, rename, { input: { id: made.apiKey.id, name: "" } });
  assert.deepEqual(nameless.data.renameApiKey, { apiKey: null, errors: [{ field: "name" }] });

  const rotated = (await query(person, rotate, { input: { id: made.apiKey.id, overlapSeconds: 60 } })).data
    .rotateApiKey;
  assert.equal(rotated.apiKey.replaces, made.apiKey.id);
  assert.match(rotated.key, /^sbx_dev_/);
  assert.equal(codeOf(await query(person, rotate, { input: { id: made.apiKey.id } })), "CONFLICT");

  const revoke =
    "mutation($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { status replacedBy } } }";
  const revoked = await query(person, revoke, { input: { id: made.apiKey.id } });
  assert.deepEqual(revoked.data.revokeApiKey.apiKey, { status: "revoked", replacedBy: rotated.apiKey.id });
});

test("what is wrong with a key is in the payload under the input's names, with the codes of REST", async () => {
  const person = account.person();
  const fieldsOf = ({ errors }: { errors: { field: string; code: string }[] }) =>
    errors.map(({ field, code }) => `${field} ${code}`);
  const wrong = { name: "", scopes: ["everything"] };
  assert.deepEqual(fieldsOf(await newKey(person, wrong)), ["name invalid", "scopes[0] invalid_value"]);
  assert.deepEqual(fieldsOf(await newKey(person, { expiresAt: "2020-01-01T00:00:00Z" })), ["expiresAt passed"]);
  assert.deepEqual(fieldsOf(await newKey(person, { scopes: ["account:admin"] })), ["scopes beyond_creator"]);
  const { apiKey } = await newKey(person);
  const long = await query(person, rotate, { input: { id: apiKey.id, overlapSeconds: 604_801 } });
  assert.deepEqual(fieldsOf(long.data.rotateApiKey), ["overlapSeconds too_big"]);
});

test("keys in the graph need a recent sign-in, as they do over REST", async () => {
  const sub = crypto.randomUUID();
  const { apiKey } = await newKey(account.person({ sub }));
  const later = account.person({ sub, auth_time: stale() });
  const input = (more: string) => `(input: { id: "${apiKey.id}" ${more} })`;
  for (const text of [
    `mutation { createApiKey(input: { name: "x", scopes: ["account:read"] }) { key } }`,
    `mutation { renameApiKey${input(', name: "y"')} { apiKey { id } } }`,
    `mutation { rotateApiKey${input("")} { key } }`,
    `mutation { revokeApiKey${input("")} { apiKey { id } } }`,
  ]) {
    const refused = await query(later, text);
    assert.equal(refused.errors[0].extensions.details[0].code, "step_up_required", text);
  }
  const same = await query(later, `mutation { renameApiKey${input(', name: "deploy"')} { apiKey { name } } }`);
  assert.equal(same.data.renameApiKey.apiKey.name, "deploy");
});
