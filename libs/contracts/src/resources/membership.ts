import { z } from "zod";
import { memberRoles } from "../access/scopes.ts";
import { accountExample } from "./account.ts";
import { examples, identifier, timestamp } from "./fields.ts";

/** A person's place in an account that is not their own, as the account and the person see it. */
export const MembershipResource = z
  .object({
    id: identifier("The membership"),
    account_id: identifier("The account that the person may act for"),
    account_name: z.string().describe("The display name of that account."),
    member_id: identifier("The person's own account"),
    member_name: z.string().describe("The display name of the person."),
    role: z
      .enum(memberRoles)
      .describe("`viewer` reads, `developer` writes too, `owner` also has `account:security` and manages members."),
    created_at: timestamp.describe("The time at which the person joined."),
    invited_by: identifier("The account of the person who sent the invitation").nullable(),
  })
  .meta({ id: "Membership", description: "A person's membership in an account that is not their own." })
  .register(examples, {
    example: {
      id: "mbr_6Yt2Hq9XfLcW5bRyNpJhdZ",
      account_id: accountExample.id,
      account_name: accountExample.display_name,
      member_id: "acc_8Wd3Hq6NpTzV1sJxK4mRbG",
      member_name: "Grace Hopper",
      role: "developer",
      created_at: "2026-01-01T09:00:00.000Z",
      invited_by: accountExample.id,
    },
  });

export type MembershipResource = z.output<typeof MembershipResource>;
