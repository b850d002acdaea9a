import assert from "node:assert/strict";
import { test } from "node:test";
import { browserNameOf, networkOf } from "./sign-in.ts";
import { mayMail, type RecentMails } from "./sign-in-mails.ts";

const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";
const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";

test("a sign-in shows nothing of the header but names", () => {
  const named: readonly (readonly [userAgent: string | undefined, name: string | null])[] = [
    ["Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox, Linux"],
    [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36`, "Chrome, Windows"],
    [`${windows} ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`, "Edge, Windows"],
    [`Mozilla/5.0 (Linux; Android 15; K) ${webkit} Chrome/142.0.0.0 Mobile Safari/537.36`, "Chrome, Android"],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
      "Safari, iOS",
    ],
    ["curl/8.11.0", null],
    ["Buy at evil.example", null],
    [`${"x".repeat(600)} Firefox/1`, null],
    ["", null],
    [undefined, null],
  ];
  for (const [userAgent, name] of named) assert.equal(browserNameOf(userAgent), name, userAgent);
});

test("a page shows only the network of an address", () => {
  const shown = [
    ["203.0.113.77", "203.0.113.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8::7", "2001:db8:0:0::/64"],
  ];
  for (const [address = "", network] of shown) assert.equal(networkOf(address), network);
});

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
