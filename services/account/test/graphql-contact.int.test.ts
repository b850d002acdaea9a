import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { codeIn, contactsOf, freshAddress, otherThan } from "./contact-parts.ts";
import { type Harness, startAccount } from "./harness.ts";

let account: Harness;
let contacts: ReturnType<typeof contactsOf>;
before(async () => {
  account = await startAccount();
  contacts = contactsOf(account);
});
after(() => account.close());

type Headers = Record<string, string>;

const fields = "account { contactAddress contactAddressVerified pendingContactAddress } errors { field message }";
const change = (headers: Headers, contactAddress: string) =>
  account.query(headers, `mutation ($input: UpdateAccountInput!) { updateAccount(input: $input) { ${fields} } }`, {
    input: { contactAddress },
  });
const confirm = (headers: Headers, code: string) =>
  account.query(
    headers,
    `mutation ($input: ConfirmContactAddressInput!) { confirmContactAddress(input: $input) { ${fields} } }`,
    { input: { code } },
  );
const resend = (headers: Headers) =>
  account.query(headers, "mutation { resendContactCode { sentCode { sentTo expiresAt } errors { field message } } }");
const cancel = (headers: Headers) => account.query(headers, `mutation { cancelContactChange { ${fields} } }`);

test("an address changed through the graph is asked to confirm, and confirms there", async () => {
  const [old, wanted] = [freshAddress(), freshAddress()];
  const { headers } = await contacts.personWith(old);
  const changed = (await change(headers, wanted)).data.updateAccount;
  assert.equal(changed.account.pendingContactAddress, wanted);
  await account.mailbox.mailTo(old);
  const code = codeIn(await account.mailbox.mailTo(wanted));

  const wrong = (await confirm(headers, otherThan(code))).data.confirmContactAddress;
  assert.deepEqual(wrong, { account: null, errors: [{ field: "code", message: "The code is wrong." }] });
  const { account: confirmed, errors } = (await confirm(headers, code)).data.confirmContactAddress;
  assert.deepEqual(errors, []);
  assert.deepEqual(confirmed, { contactAddress: wanted, contactAddressVerified: true, pendingContactAddress: null });
  assert.equal((await confirm(headers, code)).errors[0].extensions.code, "CONFLICT");
});

test("another code is sent five times an hour, and the change can be given up", async () => {
  const wanted = freshAddress();
  const { headers } = await contacts.personWith(freshAddress());
  await change(headers, wanted);
  const { sentCode } = (await resend(headers)).data.resendContactCode;
  assert.equal(sentCode.sentTo, "a…@example.org");
  await account.mailbox.mailTo(wanted, 2);
  for (let count = 0; count < 3; count++) await resend(headers);
  assert.equal((await resend(headers)).errors[0].extensions.code, "RATE_LIMITED");
  const { account: kept } = (await cancel(headers)).data.cancelContactChange;
  assert.equal(kept.pendingContactAddress, null);
  assert.equal((await resend(headers)).errors[0].extensions.code, "CONFLICT");
});
