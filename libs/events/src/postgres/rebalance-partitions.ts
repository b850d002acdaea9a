export interface Lease {
  readonly partitionId: number;
  readonly topic: string;
  /** The member that holds the partition now, alive or not. */
  readonly owner: string | null;
}

export interface Member {
  readonly member: string;
  readonly topics: readonly string[];
}

/**
 * Assigns each partition to a member: as evenly as possible, with as few moves as possible. Every member computes the
 * same from the same rows, so none has to lead.
 */
export function rebalancePartitions(leases: readonly Lease[], members: readonly Member[]): Map<number, string> {
  const sorted = [...members].sort((a, b) => (a.member < b.member ? -1 : 1));
  const byMember = new Map(sorted.map(({ member }) => [member, new Set<number>()]));
  const mayRead = ({ topics }: Member, { topic }: Lease) => topics.includes(topic);
  const load = ({ member }: Member) => byMember.get(member)?.size ?? 0;

  for (const lease of leases) {
    const owner = sorted.find(({ member }) => member === lease.owner);
    if (owner && mayRead(owner, lease)) byMember.get(owner.member)?.add(lease.partitionId);
  }
  const taken = new Set([...byMember.values()].flatMap((ids) => [...ids]));
  for (const lease of leases) {
    if (taken.has(lease.partitionId)) continue;
    const least = sorted.filter((member) => mayRead(member, lease)).sort((a, b) => load(a) - load(b))[0];
    if (least) byMember.get(least.member)?.add(lease.partitionId);
  }
  for (let move = findMove(); move; move = findMove()) {
    byMember.get(move.from)?.delete(move.partitionId);
    byMember.get(move.to)?.add(move.partitionId);
  }
  return new Map([...byMember].flatMap(([member, ids]) => [...ids].map((id) => [id, member] as const)));

  /** Finds a partition whose move makes two members more equal. */
  function findMove(): { partitionId: number; from: string; to: string } | null {
    for (const to of [...sorted].sort((a, b) => load(a) - load(b))) {
      for (const from of [...sorted].sort((a, b) => load(b) - load(a))) {
        if (load(from) - load(to) < 2) break;
        const lease = leases.findLast(
          (candidate) => byMember.get(from.member)?.has(candidate.partitionId) && mayRead(to, candidate),
        );
        if (lease) return { partitionId: lease.partitionId, from: from.member, to: to.member };
      }
    }
    return null;
  }
}
