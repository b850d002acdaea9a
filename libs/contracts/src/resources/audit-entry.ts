import { z } from "zod";
import { examples, identifier, timestamp } from "./fields.ts";

const actor = z.object({
  kind: z.enum(["owner", "administrator", "system"]).describe("The capacity in which the actor acted."),
  account_id: z.string().nullable().describe("The account that acted; null for the product itself."),
  credential: z.string().nullable().describe("The id of the key or token; null if you may not see it."),
  address: z.string().nullable().describe("The client address of the request, if known and visible to you."),
});

/** One line of an account's audit. */
export const AuditEntryResource = z
  .object({
    id: identifier("The entry"),
    account_id: identifier("The account whose audit log has the entry"),
    action: z.string().describe("The action, such as `account.update`, or the refused operation."),
    outcome: z.enum(["done", "refused"]).describe("The result: the change was made, or refused."),
    fields: z.array(z.string()).describe("Names of the changed or invalid fields, never values."),
    reason: z.string().nullable().describe("The stated reason, or the code of the refusal."),
    subject: z
      .string()
      .nullable()
      .describe(
        "The id of the key, client, login, token, image, source, endpoint or property; null for the account itself.",
      ),
    actor: actor.describe("Who acted."),
    request_id: z.string().nullable().describe("The request in which it happened."),
    created_at: timestamp,
  })
  .meta({ id: "AuditEntry", description: "An action on an account, or its refusal: actor, time and reason." })
  .register(examples, {
    example: {
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
      request_id: "req_0b1f6a526d0e4c399a553f2f7c1d8e4b",
      created_at: "2026-01-01T09:00:00.000Z",
    },
  });

export type AuditEntryResource = z.output<typeof AuditEntryResource>;
