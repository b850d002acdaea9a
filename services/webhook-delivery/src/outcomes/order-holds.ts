import { inTransaction, sql } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { type Delivery, deliveryEvent, isAboutWebhooks } from "../deliveries/delivery.ts";
import { advanceKeys, lockOrder } from "../deliveries/delivery-order.ts";
import { mayWrite } from "../endpoints/account-access.ts";

interface Overdue {
  readonly endpointId: string;
  readonly accountId: string;
  readonly deliveryId: string;
  readonly dueAt: string;
}

type Parked = Delivery & { readonly orderKey: string };

const batch = 100;
/** A delivery that is due is attempted first, so that an endpoint that was paused for long gets its chance. */
const isOverdue = "hold_until <= statement_timestamp() and leased_by is null and due_at > statement_timestamp()";
const findOverdue = sql(
  "order.overdue",
  `select endpoint_id as "endpointId", account_id as "accountId", delivery_id as "deliveryId", due_at::text as "dueAt"
   from delivery_queue join endpoints as p on p.id = endpoint_id
   where ${isOverdue} and p.status = 'enabled' and p.deleted_at is null and account_id <> all ($1::text[])
   order by hold_until limit ${batch}`,
);
const park = sql(
  "",
  `with parked as (
     delete from delivery_queue as q using unnest($1::text[], $2::text[]::timestamptz[], $3::text[])
       as given (endpoint_id, due_at, delivery_id)
     where q.endpoint_id = given.endpoint_id and q.due_at = given.due_at and q.delivery_id = given.delivery_id
       and leased_by is null
     returning q.delivery_id, q.created_at
   )
   update deliveries as d set status = 'parked', last_error = 'order-hold', next_attempt_at = null
   from parked where d.id = parked.delivery_id and d.created_at = parked.created_at
   returning d.id, d.endpoint_id as "endpointId", d.account_id as "accountId", d.event_id as "eventId",
     d.event_type as "eventType", d.status, d.attempts, d.last_status as "lastStatus", d.last_error as "lastError",
     d.created_at as "createdAt", d.last_attempt_at as "lastAttemptAt", d.next_attempt_at as "nextAttemptAt",
     d.order_key as "orderKey"`,
);

/** Parks deliveries that have blocked their key for long enough; returns "again" while there may be more. */
export async function parkOverdue(service: DeliveryService): Promise<"again" | "done"> {
  const { pool, outbox } = service;
  const overdue = await overdueNow(service);
  if (overdue.length === 0) return "done";
  await inTransaction(pool, async (tx) => {
    const endpointIds = overdue.map(({ endpointId }) => endpointId);
    await lockOrder(tx, endpointIds);
    const columns = [endpointIds, overdue.map(({ dueAt }) => dueAt), overdue.map(({ deliveryId }) => deliveryId)];
    const parked = (await tx.query<Parked>(park, columns)).rows;
    await advanceKeys(tx, parked);
    const events = parked
      .filter((delivery) => !isAboutWebhooks(delivery))
      .map((delivery) => deliveryEvent("parked", delivery));
    if (events.length > 0) await outbox.append(tx, events);
    tx.afterCommit(() => noteParked(service, parked));
  });
  return overdue.length === batch ? "again" : "done";
}

function noteParked({ wakeUp, log }: DeliveryService, parked: readonly Parked[]): void {
  wakeUp.wake();
  for (const { id: deliveryId, endpointId, attempts } of parked) {
    log.info({ deliveryId, endpointId, attempts }, "a delivery was parked to unblock its key");
  }
}

/** Returns overdue deliveries that may be parked. Those of accounts that may not act do not block the others. */
async function overdueNow({ pool, accessStates }: DeliveryService): Promise<Overdue[]> {
  const blocked = new Set<string>();
  for (;;) {
    const { rows } = await pool.query<Overdue>(findOverdue, [[...blocked]]);
    const overdue = rows.filter(({ accountId }) => mayWrite(accessStates, accountId));
    if (overdue.length > 0 || rows.length < batch) return overdue;
    for (const { accountId } of rows) blocked.add(accountId);
  }
}
