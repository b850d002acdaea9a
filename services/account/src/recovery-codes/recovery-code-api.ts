import { personOf } from "@signalbox/auth";
import { examples, timestamp } from "@signalbox/contracts";
import { created, field, ok } from "@signalbox/http";
import { type Edges, edgesOf, operation, record } from "@signalbox/service";
import { z } from "zod";
import type { AccountService } from "../context/account-service.ts";
import { ownAccount } from "../profile/account-api.ts";
import { notAPerson } from "../step-up/step-up-api.ts";
import { codesOfSet, createRecoveryCodes, type RecoveryCodes, recoveryCodesOf } from "./recovery-codes.ts";

const base = "/api/account/recovery-codes/";
const read = { scopes: ["account:read"], access: "own-account:read", ownAccount: true } as const;
const example = { left: codesOfSet, created_at: "2026-01-01T09:00:00.000Z" };

const RecoveryCodesResource = z
  .object({
    left: z.int().min(0).max(codesOfSet).describe("The number of unused codes."),
    created_at: timestamp.nullable().describe("When they were created; null if there are none."),
  })
  .meta({ id: "RecoveryCodes", description: "The recovery codes of a person, without the codes." })
  .register(examples, { example });

const IssuedRecoveryCodes = RecoveryCodesResource.extend({
  codes: z.array(z.string()).describe("The codes, shown only once."),
})
  .meta({ id: "IssuedRecoveryCodes", description: "New recovery codes; earlier ones no longer work." })
  .register(examples, { example: { ...example, codes: ["7k2m-q9xw-0vtr-5hcd", "c4zn-8p1e-ybj6-3sga"] } });

const viewCodes = ({ left, createdAt }: RecoveryCodes) => ({ left, created_at: createdAt?.toISOString() ?? null });

/** The recovery codes of a person at both edges; they are used on the sign-in page. */
export function recoveryCodeApi(service: AccountService): Edges {
  return edgesOf(
    {
      recoveryCodes: record({
        summary: "Read how many recovery codes are left",
        description: "Each code signs its person in once, without access to the mailbox or a passkey.",
        auth: read,
        find: ({ caller }) => recoveryCodesOf(service.pool, personOf(caller)),
        missing: "The account no longer exists.",
        rest: { get: base, resource: RecoveryCodesResource, answer: (codes) => ok(viewCodes(codes)) },
      }),
      createRecoveryCodes: operation({
        summary: "Create ten recovery codes",
        description:
          "The answer shows them once; earlier ones no longer work. The owner gets a notice. Requires a person's token.",
        auth: { scopes: ["account:security"], ownAccount: true, stepUp: true },
        audit: "account.create_recovery_codes",
        of: ownAccount(service),
        change: (tx, account, { caller }) => createRecoveryCodes(service, tx, caller, account),
        refusals: { "not-a-person": notAPerson },
        rest: {
          post: base,
          responses: { 201: IssuedRecoveryCodes },
          idempotent: "sealed",
          answer: ({ codes, createdAt }) =>
            created(base, { ...viewCodes({ left: codes.length, createdAt }), codes: [...codes] }),
        },
        graph: { payload: { codes: ({ codes }) => codes }, type: "RecoveryCodesPayload" },
      }),
    },
    {
      errors: "account",
      fields: {
        Account: {
          recoveryCodes: field<{ readonly id: string }, unknown>({ ...read, ownOnly: true }, ({ id }) =>
            recoveryCodesOf(service.pool, id),
          ),
        },
      },
    },
  );
}
