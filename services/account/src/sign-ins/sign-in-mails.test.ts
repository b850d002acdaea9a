import assert from "node:assert/strict";
import { test } from "node:test";
import { mayMail, type RecentMails } from "./sign-in-mails.ts";

const recent = (some: Partial<RecentMails>): RecentMails => ({
  toAddress: 0,
  ofStrangers: 0,
  ofAsker: 0,
  ofSignIn: 0,
  fromClient: 0,
  ...some,
});

test("strangers share fifteen of an address's twenty mails, five each, and sixty of where they are", () => {
  const again = { ofSignIn: 1 };
  const most = { toAddress: 14, ofStrangers: 14, ofAsker: 4, fromClient: 59 };
  assert.equal(mayMail("stranger", recent({ ...again, ...most })), true);
  for (const used of [{ ofStrangers: 15 }, { ofAsker: 5 }, { fromClient: 60 }, { toAddress: 20 }]) {
    assert.equal(mayMail("stranger", recent({ ...again, ...used })), false, JSON.stringify(used));
  }
});

test("a sign-in that got none yet gets one, though others of its network used up five; ten leave a network", () => {
  assert.equal(mayMail("stranger", recent({ ofAsker: 9, ofStrangers: 9, toAddress: 9 })), true);
  assert.equal(mayMail("stranger", recent({ ofAsker: 10 })), false);
  assert.equal(mayMail("stranger", recent({ ofAsker: 5, ofStrangers: 15 })), false);
});

test("a known browser gets five in an hour, whatever strangers use up", () => {
  const attacked = { toAddress: 15, ofStrangers: 15, fromClient: 60 };
  assert.equal(mayMail("known browser", recent(attacked)), true);
  assert.equal(mayMail("known browser", recent({ ...attacked, toAddress: 19, ofAsker: 4 })), true);
  assert.equal(mayMail("known browser", recent({ ...attacked, toAddress: 20, ofAsker: 5 })), false);
});

test("a known browser that got none gets one, even where others of the account have used up the address", () => {
  assert.equal(mayMail("known browser", recent({ toAddress: 20, ofAsker: 0 })), true);
  assert.equal(mayMail("known browser", recent({ toAddress: 20, ofAsker: 1 })), false);
});
