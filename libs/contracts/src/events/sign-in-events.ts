import { z } from "zod";
import { changed, identifier, timestamp } from "../resources/fields.ts";
import { defineEvent } from "../topics/define-event.ts";

const ofPeople = {
  version: 1,
  topic: "signalbox.account.v1",
  subject: "account id",
  audience: "account",
  scope: "account:security",
} as const;

const account_id = identifier("The person's own account");
const method = z
  .string()
  .describe("The authentication method: `code` (by mail), `passkey`, `recovery_code` or `identity_provider`.");
const application = z.string().describe("The client id of the application, or the name of our own page.");
const address = z.string().nullable().describe("Client address of the request.");
const from = { application, address };
const exampleFrom = { application: "console", address: "203.0.113.7" };
const exampleAccount = "acc_5Yb0cPq7TnV2sKxW9mRdLh";

export const signInSucceededEvent = defineEvent({
  ...ofPeople,
  name: "sign_in.succeeded",
  description: "A person signed in at the built-in issuer.",
  data: z.object({
    account_id,
    method,
    ...from,
    browser: z.string().nullable().describe("Browser and system by name; null when unknown."),
    changed,
  }),
  example: {
    account_id: exampleAccount,
    method: "passkey",
    ...exampleFrom,
    browser: "Firefox, Linux",
    changed: [],
  },
});

export const signInRefusedEvent = defineEvent({
  ...ofPeople,
  name: "sign_in.refused",
  description:
    "Sign-ins to the account were refused: one event per reason and minute, with the count, shortly after the minute ends.",
  data: z.object({
    account_id,
    reason: z.string().describe("The code of the refusal, such as `wrong_code`."),
    count: z.int().min(1).describe("The number of refusals."),
    minute: timestamp.describe("The start of the minute."),
    ...from,
    changed,
  }),
  example: {
    account_id: exampleAccount,
    reason: "wrong_code",
    count: 3,
    minute: "2026-01-01T09:00:00.000Z",
    ...exampleFrom,
    changed: [],
  },
});

export const signInEndedEvent = defineEvent({
  ...ofPeople,
  name: "sign_in.ended",
  description: "One, several or all sign-ins to the account were ended early, along with their sessions and tokens.",
  data: z.object({
    account_id,
    sign_in_id: identifier("The ended sign-in; null for several at once").nullable(),
    ended: z.string().describe("`one`, `others` (all except the one in the person's browser) or `all`."),
    changed,
  }),
  example: { account_id: exampleAccount, sign_in_id: "sgn_5kTz8Nq1XfLcW3bRyVpJhd", ended: "one", changed: [] },
});

export const stepUpPassedEvent = defineEvent({
  ...ofPeople,
  name: "step_up.passed",
  description: "A person confirmed their identity again, for changes that require a recent sign-in.",
  data: z.object({
    account_id,
    method,
    credential: z.string().describe("The id of the token that counts as freshly signed in."),
    address,
    changed,
  }),
  example: {
    account_id: exampleAccount,
    method: "code",
    credential: "jti:signalbox:kV2mXo0yQ8a1",
    address: "203.0.113.7",
    changed: [],
  },
});

export const consentGrantedEvent = defineEvent({
  ...ofPeople,
  name: "consent.granted",
  description: "A person gave an application the consent that it asked for.",
  data: z.object({
    account_id,
    ...from,
    scopes: z.array(z.string()).describe("The allowed scopes."),
    changed,
  }),
  example: {
    account_id: exampleAccount,
    application: "app_7Qn2vLx0RbTf4HsYk8JmCw",
    address: "203.0.113.7",
    scopes: ["openid", "account:read"],
    changed: [],
  },
});
