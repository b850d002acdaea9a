import {
  AdministratorsAnswer,
  administratorsPath,
  type internalProperties,
  internalTokenHeader,
  type principalProperties,
} from "@signalbox/auth";
import type { Configuration } from "@signalbox/config";
import { AppError, KiB, seconds } from "@signalbox/core";
import { createInternalClient, sendTwice } from "@signalbox/net";
import { createWakeUp, type Runner } from "@signalbox/runtime";
import { inTransaction, type Pool, sql } from "@signalbox/storage";
import type { EndpointStatus } from "../endpoints/endpoint-status.ts";
import type { EndpointStore } from "../endpoints/endpoint-store.ts";

/** Interval between reviews, in case an announcement is lost. */
const reviewEveryMs = seconds(10);

interface OperatorDependencies {
  readonly pool: Pool;
  readonly endpointStore: Pick<EndpointStore, "lockById">;
  readonly endpointStatus: Pick<EndpointStatus, "disable">;
  readonly administratorsAmong: AskAdministrators;
}

/** Returns the accounts that are administrators; null when roles come with tokens and cannot be looked up. */
type AskAdministrators = (accountIds: readonly string[]) => Promise<ReadonlySet<string> | null>;

const findOperators = sql(
  "operator.find",
  `select id, account_id as "accountId" from endpoints
   where scope = 'all' and consumer_of is null and deleted_at is null and disabled_reason is distinct from 'scope'`,
);

export type Operators = ReturnType<typeof createOperators>;

/** Creates the review of endpoints that get the events of all accounts. */
export function createOperators({ pool, endpointStore, endpointStatus, administratorsAmong }: OperatorDependencies) {
  const wakeUp = createWakeUp(reviewEveryMs);
  return {
    /** Starts a review, because some account's access has changed. */
    wake: wakeUp.wake,

    /** Reviews the endpoints after each change of access and at intervals, until the signal aborts. */
    async run(signal: AbortSignal, beat: () => void): Promise<void> {
      while (!signal.aborted) {
        beat();
        wakeUp.reset();
        await review();
        await wakeUp.wait(signal);
      }
    },
  };

  /** Disables endpoints with scope `all` whose account is no administrator any more. */
  async function review(): Promise<void> {
    const { rows } = await pool.query<{ id: string; accountId: string }>(findOperators);
    if (rows.length === 0) return;
    const administrators = await administratorsAmong([...new Set(rows.map(({ accountId }) => accountId))]);
    if (administrators === null) return;
    for (const { id } of rows.filter(({ accountId }) => !administrators.has(accountId))) {
      await inTransaction(pool, async (tx) => {
        const endpoint = await endpointStore.lockById(tx, id);
        if (endpoint) await endpointStatus.disable(tx, endpoint, "scope");
      });
    }
  }
}

interface ClientContext {
  readonly configuration: Pick<Configuration<typeof internalProperties & typeof principalProperties>, "get">;
  readonly runner: Pick<Runner, "defer">;
}

/** Opens a client that asks the account service. */
export function openAdministrators({ configuration, runner }: ClientContext): AskAdministrators {
  const headers = () => ({ [internalTokenHeader]: configuration.get("internal.token")[0] ?? "" });
  const limits = { deadlineMs: seconds(5), responseBytesMax: 64 * KiB };
  const account = createInternalClient({ url: configuration.get("account.internal-url"), headers, ...limits });
  runner.defer("administrators", () => account.close());
  return async (accountIds) => {
    const question = JSON.stringify({ account_ids: accountIds });
    const { status, body } = await sendTwice(() => account.post(administratorsPath, question));
    if (status !== 200) throw new AppError("unavailable", `The account service answered ${status}.`);
    const { administrators } = AdministratorsAnswer.parse(JSON.parse(body.toString()));
    return administrators && new Set(administrators);
  };
}
