import { z } from "zod";
import { examples } from "./examples.ts";
import { identifier, timestamp } from "./fields.ts";

const actor = z.object({
  kind: z.enum(["owner", "administrator", "system"]),
  account_id: z.string().nullable().describe("The account that acted; null for the product itself."),
  credential: z.string().nullable().describe("The id of the key or token; null where it is not yours to see."),
  address: z.string().nullable().describe("Where the request came from, as far as it is known and yours to see."),
});

/** One line of an account's audit. */
export const AuditEntryResource = z
  .object({
    id: identifier("The entry"),
    account_id: identifier("The account in whose audit it is kept"),
    action: z.string().describe("What was done, such as `account.update`; or the operation that was refused."),
    outcome: z.enum(["done", "refused"]),
    fields: z.array(z.string()).describe("Names of what changed or was wrong, never values."),
    reason: z.string().nullable().describe("Why: what was said, or the code of the refusal."),
    subject: z
      .string()
      .nullable()
      .describe(
        "Which key, client, login, token, image, source, endpoint or property, by its id; null for the account itself and where none is named.",
      ),
    actor,
    request_id: z.string().nullable(),
    created_at: timestamp,
  })
  .meta({ id: "AuditEntry", description: "Who did what to an account, or was refused, when and why." });

export type AuditEntryResource = z.output<typeof AuditEntryResource>;

export const auditEntryExample: AuditEntryResource = {
  id: "019b8a3c-7d00-7c11-9d8e-2f1a5b6c7d8e",
  account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
  action: "api_key.create",
  outcome: "done",
  fields: [],
  reason: null,
  subject: "key_2hTq8LcN5wYfKb0ZrVxPsd",
  actor: {
    kind: "owner",
    account_id: "acc_5Yb0cPq7TnV2sKxW9mRdLh",
    credential: "key_7cJk2RsM9vXeHa4UzTwQbn",
    address: "192.0.2.10",
  },
  request_id: "0b1f6a52-6d0e-4c39-9a55-3f2f7c1d8e4b",
  created_at: "2026-01-01T09:00:00.000Z",
};

examples.add(AuditEntryResource, { example: auditEntryExample });
