import { type Pool, type Statement, sql, type Tx } from "@signalbox/storage";
import type { DeliveryService } from "../context/delivery-service.ts";
import { endpointDeleted } from "./endpoint.ts";
import { lockEndpointsOf, removeEndpoint } from "./endpoint-store.ts";

/** Rows of one statement: few enough for short locks and a short log. */
const batch = 5_000;

const findDeleted = sql("removal.find", "select id from endpoints where deleted_at is not null limit 1");
const unqueue = sql(
  "",
  `delete from delivery_queue where ctid = any (array(
     select ctid from delivery_queue where endpoint_id = $1 limit ${batch}))`,
);
/** Removes deliveries. The last delivery of an event takes its body along. */
const removeDeliveries = sql(
  "",
  `with chosen as materialized (
     select id, created_at from deliveries where endpoint_id = $1 order by created_at, id limit ${batch}
   ), removed as (
     delete from deliveries as d using chosen where d.id = chosen.id and d.created_at = chosen.created_at
     returning d.account_id, d.created_at, d.event_id
   ), freed as (
     select e.account_id, e.created_at, e.id, e.deliveries - 1 as deliveries from removed cross join lateral (
       select * from webhook_events where account_id = removed.account_id and created_at = removed.created_at
         and id = removed.event_id for update offset 0) as e
   ), kept as (
     update webhook_events as e set deliveries = freed.deliveries from freed
     where freed.deliveries > 0 and e.account_id = freed.account_id and e.created_at = freed.created_at and e.id = freed.id
   ), dropped as (
     delete from webhook_events as e using freed
     where freed.deliveries <= 0 and e.account_id = freed.account_id and e.created_at = freed.created_at
       and e.id = freed.id
   )
   select count(*)::int as count from removed`,
);
const removeAttempts = sql(
  "",
  `delete from delivery_attempts as a using (
     select endpoint_id, started_at, id from delivery_attempts where endpoint_id = $1 limit ${batch}) as chosen
   where a.endpoint_id = chosen.endpoint_id and a.started_at = chosen.started_at and a.id = chosen.id`,
);
const removeOrder = sql(
  "",
  `delete from delivery_order where ctid = any (array(
     select ctid from delivery_order where endpoint_id = $1 limit ${batch}))`,
);
const removeSecrets = sql(
  "removal.secrets",
  `with settings as (delete from endpoint_credentials where endpoint_id = $1),
   health as (delete from endpoint_health where endpoint_id = $1),
   rate as (delete from endpoint_rates where endpoint_id = $1),
   consumer as (delete from pull_consumers where endpoint_id = $1)
   delete from endpoint_secrets where endpoint_id = $1`,
);
const removeRow = sql("removal.endpoint", "delete from endpoints where id = $1 and deleted_at is not null");

const purge = sql(
  "removal.purge",
  `with keys as (delete from signing_keys where account_id = $1),
   replayed as (delete from replays where account_id = $1),
   types as (delete from event_types where account_id = $1),
   names as (delete from sent_event_types where account_id = $1)
   insert into purged_accounts values ($1) on conflict do nothing`,
);
const findPurged = sql("removal.find-purged", "select account_id as id from purged_accounts limit 1");
const removeEvents = sql(
  "",
  `delete from webhook_events as e using (
     select account_id, created_at, id from webhook_events where account_id = $1 limit ${batch}) as chosen
   where e.account_id = chosen.account_id and e.created_at = chosen.created_at and e.id = chosen.id`,
);
/** Erases the copies that operators got of a purged account's events. `account.deleted` is kept. */
const eraseCopies = sql(
  "",
  `update webhook_events as e set about_account_id = null, body = convert_to(json_build_object('id', e.id, 'type', e.type,
     'created_at', to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', null,
     'api_version', 'v1', 'account_id', e.about_account_id)::text, 'UTF8')
   from (select account_id, created_at, id from webhook_events
     where about_account_id = $1 and type <> 'account.deleted' limit ${batch}) as chosen
   where e.account_id = chosen.account_id and e.created_at = chosen.created_at and e.id = chosen.id`,
);
const endPurge = sql("removal.end-purge", "delete from purged_accounts where account_id = $1");

/** Hides the endpoints of a purged account, whose bodies hold personal data; a worker removes the rows. */
export async function deleteEndpointsOf({ clock, outbox }: DeliveryService, tx: Tx, accountId: string): Promise<void> {
  const owned = await lockEndpointsOf(tx, accountId);
  for (const { id } of owned) await removeEndpoint(tx, id, clock.now());
  await tx.query(purge, [accountId]);
  const shown = owned.filter(({ consumerOf }) => consumerOf === null);
  if (shown.length > 0) await outbox.append(tx, shown.map(endpointDeleted));
}

/** Removes one batch of deleted endpoints and purged accounts; returns "again" while there may be more. */
export async function removeNext(service: DeliveryService): Promise<"again" | "done"> {
  const { pool, statistics } = service;
  const [deleted] = (await pool.query<{ id: string }>(findDeleted)).rows;
  if (deleted) {
    if (await removeSome(service, deleted.id)) return "again";
    await pool.query(removeSecrets, [deleted.id]);
    await pool.query(removeRow, [deleted.id]);
    return "again";
  }
  const [purged] = (await pool.query<{ id: string }>(findPurged)).rows;
  if (!purged) return "done";
  const left = (await removedBy(pool, removeEvents, purged.id)) + (await removedBy(pool, eraseCopies, purged.id));
  if (left === 0 && (await statistics.remove(purged.id)) === "done") await pool.query(endPurge, [purged.id]);
  return "again";
}

async function removeSome({ pool, statistics }: DeliveryService, id: string): Promise<boolean> {
  for (const statement of [unqueue, removeDeliveries, removeAttempts, removeOrder]) {
    if ((await removedBy(pool, statement, id)) > 0) return true;
  }
  return (await statistics.remove(id)) === "again";
}

async function removedBy(pool: Pool, statement: Statement, id: string): Promise<number> {
  const { rows, rowCount } = await pool.query<{ count?: number }>(statement, [id]);
  return rows[0]?.count ?? rowCount;
}
