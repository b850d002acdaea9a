import { internalTokenHeader, principalProtocol } from "@signalbox/auth";
import { AppError, KiB, seconds } from "@signalbox/core";
import { createInternalClient, sendTwice } from "@signalbox/net";
import type { WakeUp } from "@signalbox/runtime";
import { inTransaction, sql } from "@signalbox/storage";
import type { DeliveryContext, DeliveryService } from "../context/delivery-service.ts";
import { disableEndpoint } from "./endpoint-status.ts";
import { lockEndpointById } from "./endpoint-store.ts";

/** Interval between reviews, in case an announcement is lost. */
export const reviewEveryMs = seconds(10);

/** Returns the accounts that are administrators; null when roles come with tokens and cannot be looked up. */
type AskAdministrators = (accountIds: readonly string[]) => Promise<ReadonlySet<string> | null>;

const findOperators = sql(
  "operator.find",
  `select id, account_id as "accountId" from endpoints
   where scope = 'all' and consumer_of is null and deleted_at is null and disabled_reason is distinct from 'scope'`,
);

export async function reviewOperators(
  service: DeliveryService,
  administratorsAmong: AskAdministrators,
  wakeUp: WakeUp,
  signal: AbortSignal,
  beat: () => void,
): Promise<void> {
  while (!signal.aborted) {
    beat();
    wakeUp.reset();
    await disableFormerOperators(service, administratorsAmong);
    await wakeUp.wait(signal);
  }
}

async function disableFormerOperators(service: DeliveryService, administratorsAmong: AskAdministrators): Promise<void> {
  const { pool } = service;
  const { rows } = await pool.query<{ id: string; accountId: string }>(findOperators);
  if (rows.length === 0) return;
  const administrators = await administratorsAmong([...new Set(rows.map(({ accountId }) => accountId))]);
  if (administrators === null) return;
  for (const { id } of rows.filter(({ accountId }) => !administrators.has(accountId))) {
    await inTransaction(pool, async (tx) => {
      const endpoint = await lockEndpointById(tx, id);
      if (endpoint) await disableEndpoint(service, tx, endpoint, "scope");
    });
  }
}

export function openAdministrators({ configuration, runner }: DeliveryContext): AskAdministrators {
  const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
  const limits = { deadlineMs: seconds(5), responseBytesMax: 64 * KiB };
  const account = createInternalClient({ url: configuration.get("account.internal-url"), headers, ...limits });
  runner.defer("administrators", () => account.close());
  return async (accountIds) => {
    const question = JSON.stringify({ account_ids: accountIds });
    const { status, body } = await sendTwice(() => account.post(principalProtocol.administratorsPath, question));
    if (status !== 200) throw new AppError("unavailable", `The account service answered ${status}.`);
    const { administrators } = principalProtocol.AdministratorsAnswer.parse(JSON.parse(body.toString()));
    return administrators && new Set(administrators);
  };
}
