import assert from "node:assert/strict";
import test from "node:test";
import { accountStates, mayAccess } from "./access/account-state.ts";
import { eventOf } from "./catalogue.ts";
import { subscriptions } from "./subscriptions.ts";

for (const [field, declaration] of Object.entries(subscriptions)) {
  for (const name of declaration.events) {
    test(`${field}: every member of the payload is in the record of ${name}`, () => {
      const { example: data, audience } = eventOf(name);
      const payload = declaration.payloadOf({ name, data });
      const expected = {
        accountChanged: {
          account: { __typename: "Account", id: "acc_5Yb0cPq7TnV2sKxW9mRdLh" },
          event: name,
          changed: "changed" in data && data.changed,
        },
        webhookReceived: {
          receivedWebhook: { __typename: "ReceivedWebhook", id: "rcv_01kbdq4v00e8w9x2m5n7p3r6tz" },
          replayed: false,
        },
      };
      assert.deepEqual(payload, expected[field as keyof typeof expected]);
      assert.equal(audience, "account", "nobody is told what is not theirs to see");
    });
  }

  test(`${field} tells of no other event`, () => {
    const data = eventOf("account.deleted").example;
    assert.equal(declaration.payloadOf({ name: "account.deleted", data }), null);
  });

  test(`${field} ends with a suspension, and is named as it is declared`, () => {
    assert.equal(declaration.field, field);
    const open = accountStates.filter((state) => mayAccess(state, declaration.access));
    assert.deepEqual(open, ["pending", "active"]);
  });
}
