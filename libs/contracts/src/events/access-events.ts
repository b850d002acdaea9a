import { z } from "zod";
import { accountStates } from "../access/account-state.ts";
import { defineEvent } from "../define-event.ts";
import { identifier, timestamp } from "../resources/fields.ts";

/** The state of a thing that can act. Credentials are `active` or `revoked`; accounts have their own states. */
const accessStates = [...accountStates, "revoked"] as const;

export const accessChangedEvent = defineEvent({
  name: "access.changed",
  version: 1,
  topic: "signalbox.access.v1",
  subject: "`account:`, `key:`, `client:` or `token:` and the id",
  audience: "internal",
  description:
    "What an account, key, client or access token may do now, for enforcement everywhere. A reader applies only a higher epoch.",
  data: z.object({
    kind: z.enum(["account", "key", "client", "token"]),
    id: identifier("The account, key, client, or token as `jti:<issuer>:<jti>`"),
    account_id: identifier("The account it acts for"),
    state: z.enum(accessStates),
    epoch: z.int().describe("Rises with every change of this subject, a change of scopes included."),
    changed_at: timestamp,
    not_before: timestamp
      .nullable()
      .optional()
      .describe("Of an account: tokens of another issuer that were issued until then are not accepted any more."),
  }),
  example: {
    kind: "account",
    id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    state: "suspended",
    epoch: 4,
    changed_at: "2026-01-02T10:30:00.000Z",
  },
});
