import { accountStates, examples } from "@signalbox/contracts";
import { z } from "zod";
import { ruledText } from "../accounts/account-body.ts";
import type { FieldRule } from "../accounts/account-fields.ts";

const reasonLengthMax = 500;

/** A reason is prose: several lines are fine, an empty text is not. */
const checkReason: FieldRule = (reason) => {
  const length = [...reason].length;
  return reason.trim() !== "" && length <= reasonLengthMax ? null : `The reason has 1–${reasonLengthMax} characters.`;
};

const reason = ruledText(checkReason).meta({ minLength: 1, maxLength: reasonLengthMax });

/** The body of an administrator's change. No account returns to `pending`. */
export const StatusByAdministrator = z
  .strictObject({
    status: z.enum(accountStates).exclude(["pending"]),
    reason: reason.describe("The reason, which the owner reads: in the account, in refusals and in the audit."),
  })
  .register(examples, { example: { status: "suspended", reason: "Payment failed three times." } });

/** The body of an owner's change. An owner deletes the account with DELETE. */
export const StatusByOwner = z
  .strictObject({
    status: z.literal("disabled"),
    reason: reason.nullable().default(null).describe("Why; shown with the account, in refusals and in the audit."),
  })
  .register(examples, { example: { status: "disabled", reason: "I moved to another product." } });
