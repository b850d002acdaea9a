import { inTransaction, isGone, type Pool, sql, type Tx } from "@signalbox/storage";
import { type Lease, type Member, rebalancePartitions } from "./rebalance-partitions.ts";

/** A partition of this member. `epoch` names the ownership: a commit under an older one is refused. */
export interface OwnedPartition {
  readonly partitionId: number;
  readonly topic: string;
  readonly partition: number;
  readonly epoch: bigint;
  readonly committed: bigint;
}

interface LeaseRow {
  readonly partition_id: number;
  readonly topic: string;
  readonly partition: number;
  readonly owner: string | null;
  readonly epoch: bigint;
  readonly committed: bigint;
}

export interface Tended {
  readonly owned: readonly OwnedPartition[];
  /** Partitions that belong to others now: finish them, then tend again and name them as given back. */
  readonly toGiveBack: readonly number[];
  /** True when the group has changed for others too. */
  readonly changed: boolean;
}

const addGroup = sql("log.add-group", "insert into signalbox.log_group (name) values ($1) on conflict do nothing");
const lockGroup = sql("log.lock-group", "select from signalbox.log_group where name = $1 for update");
const beat = sql(
  "log.beat",
  `insert into signalbox.log_member (group_name, member, topics, expires_at, presence)
   values ($1, $2, $3, clock_timestamp() + $4 * interval '1 ms', $5)
   on conflict (group_name, member) do update set expires_at = excluded.expires_at, presence = excluded.presence
   returning (xmax = 0) as joined`,
);
/** Removes members whose session has ended, and at once those whose process is gone. */
const buryMembers = sql(
  "log.bury-members",
  `delete from signalbox.log_member where group_name = $1 and (expires_at < clock_timestamp()
     or expires_at < clock_timestamp() + $2 * interval '1 ms' and presence is not null and ${isGone("presence")})`,
);
const addLeases = sql(
  "log.add-leases",
  `insert into signalbox.log_lease (group_name, partition_id)
   select $1, id from signalbox.log_partition where topic = any ($2)
     and not exists (select from signalbox.log_lease where group_name = $1 and partition_id = id)
   on conflict do nothing`,
);
const giveBack = sql(
  "log.give-back",
  "update signalbox.log_lease set owner = null where group_name = $1 and owner = $2 and partition_id = any ($3)",
);
const members = sql("log.members", "select member, topics from signalbox.log_member where group_name = $1");
const leases = sql(
  "log.leases",
  `select partition_id, topic, partition, owner, epoch, coalesce(committed, first_offset) as committed
   from signalbox.log_lease join signalbox.log_partition on id = partition_id
   where group_name = $1 order by topic, partition`,
);
const take = sql(
  "log.take",
  `update signalbox.log_lease set owner = $2, epoch = epoch + 1 where group_name = $1 and partition_id = any ($3)
   returning partition_id, epoch`,
);
const leave = sql("log.leave", "delete from signalbox.log_member where group_name = $1 and member = $2");
const giveBackAll = sql(
  "log.give-back-all",
  "update signalbox.log_lease set owner = null where group_name = $1 and owner = $2",
);
const commit = sql(
  "log.commit",
  `update signalbox.log_lease set committed = $5
   where group_name = $1 and partition_id = $3 and owner = $2 and epoch = $4`,
);

interface MemberOptions {
  readonly group: string;
  readonly member: string;
  readonly topics: readonly string[];
  readonly sessionMs: number;
  readonly presence: () => number | null;
}

/**
 * A member that beat less than this ago counts as alive: a process that lost only its presence connection has this long
 * to beat without it. Shorter than the start of any process, so that a successor after a crash need not look twice.
 */
const freshMs = 1_000;

export type Membership = ReturnType<typeof createMembership>;

/** Creates one member of a group: its heartbeat, its share of the partitions, its commits. */
export function createMembership(pool: Pool, { group, member, topics, sessionMs, presence }: MemberOptions) {
  async function tendIn(tx: Tx, givenBack: readonly number[]): Promise<Tended> {
    await tx.query(addGroup, [group]);
    await tx.query(lockGroup, [group]); // one member at a time
    const beating = [group, member, topics, sessionMs, presence()];
    const { joined } = (await tx.query<{ joined: boolean }>(beat, beating)).rows[0] ?? {};
    const buried = await tx.query(buryMembers, [group, sessionMs - freshMs]);
    await tx.query(addLeases, [group, topics]);
    if (givenBack.length > 0) await tx.query(giveBack, [group, member, givenBack]);
    const alive = (await tx.query<Member>(members, [group])).rows;
    const rows = (await tx.query<LeaseRow>(leases, [group])).rows;

    const spread = rebalancePartitions(rows.map(toLease), alive);
    const mine = rows.filter((row) => row.owner === member);
    const isFree = ({ owner }: LeaseRow) => owner === null || !alive.some((other) => other.member === owner);
    const toTake = rows.filter((row) => spread.get(row.partition_id) === member && isFree(row));
    const epochs = await takeLeases(tx, toTake);
    return {
      owned: [
        ...mine.map((row) => toOwned(row, row.epoch)),
        ...toTake.map((row) => toOwned(row, epochs.get(row.partition_id))),
      ],
      toGiveBack: mine.map((row) => row.partition_id).filter((id) => spread.get(id) !== member),
      changed: joined === true || buried.rowCount > 0 || givenBack.length > 0,
    };
  }

  async function takeLeases(tx: Tx, toTake: readonly LeaseRow[]): Promise<Map<number, bigint>> {
    if (toTake.length === 0) return new Map();
    const ids = toTake.map((row) => row.partition_id);
    const { rows } = await tx.query<{ partition_id: number; epoch: bigint }>(take, [group, member, ids]);
    return new Map(rows.map((row) => [row.partition_id, row.epoch]));
  }

  return {
    /** Sends a heartbeat, removes dead members, gives back finished partitions and takes free ones of its share. */
    tend: (givenBack: readonly number[]): Promise<Tended> => inTransaction(pool, (tx) => tendIn(tx, givenBack)),

    /** Records that everything before `offset` is done; returns false when the partition belongs to another member. */
    async commit({ partitionId, epoch }: OwnedPartition, offset: bigint): Promise<boolean> {
      return (await pool.query(commit, [group, member, partitionId, epoch, offset])).rowCount === 1;
    },

    async leave(): Promise<void> {
      await inTransaction(pool, async (tx) => {
        await tx.query(lockGroup, [group]);
        await tx.query(leave, [group, member]);
        await tx.query(giveBackAll, [group, member]);
      });
    },
  };
}

const toLease = (row: LeaseRow): Lease => ({ partitionId: row.partition_id, topic: row.topic, owner: row.owner });

function toOwned(row: LeaseRow, epoch = row.epoch): OwnedPartition {
  return {
    partitionId: row.partition_id,
    topic: row.topic,
    partition: row.partition,
    epoch,
    committed: row.committed,
  };
}
