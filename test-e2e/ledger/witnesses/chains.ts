import type { Chain, Evidence } from "../evidence.ts";
import { operationsOf } from "../history.ts";
import { insist, type Member, type Scene } from "../scene.ts";

type Known = Pick<Evidence, "webhooks">;
type Asked = Pick<Chain, "kind" | "id" | "account">;

const lanes = 8;

/** Asks why of every id that a caller or a receiver of the round was given, as its account and as another one. */
export async function askWhy(scene: Scene, known: Known, received: Evidence["received"]): Promise<Chain[]> {
  const left = [...new Map(acknowledged(scene, known, received).map((one) => [one.id, one])).values()];
  const chains: Chain[] = [];
  const askNext = async (): Promise<void> => {
    for (let one = left.pop(); one !== undefined; one = left.pop()) chains.push(await ask(scene, one));
  };
  await Promise.all(Array.from({ length: lanes }, askNext));
  return chains;
}

/** Lists the ids in answers of this round, and those of the deliveries that arrived. */
function acknowledged({ history, members }: Scene, { webhooks }: Known, received: Evidence["received"]): Asked[] {
  const done = operationsOf(history.entries).filter(({ outcome }) => outcome === "ok");
  const idsOf = (kind: Chain["kind"], op: string, idOf: (one: (typeof done)[number]) => string | undefined) =>
    done
      .filter((one) => one.op === op)
      .flatMap((one) => ({ kind, account: one.value.account as string, id: idOf(one) ?? [] }))
      .filter((one): one is Asked => typeof one.id === "string");
  const ownerOfSource = new Map(members.map(({ source, account }) => [source.id, account]));
  const ownerOfEndpoint = new Map(
    members.flatMap(({ account, endpoints }) => Object.values(endpoints).map(({ name }) => [name, account] as const)),
  );
  return [
    ...idsOf("image", "upload", ({ answer }) => answer.image),
    ...idsOf("key", "create-key", ({ answer }) => answer.key),
    ...idsOf("event", "publish", ({ value }) => value.event),
    ...idsOf("replay", "start-replay", ({ answer }) => answer.replay),
    ...idsOf("request", "patch-image", ({ answer }) => answer.request),
    ...webhooks.flatMap(({ source, received: id }) => {
      const account = ownerOfSource.get(source);
      return account === undefined ? [] : [{ kind: "received" as const, id, account }];
    }),
    ...received.flatMap(({ endpoint, deliveryId: id, status }) => {
      const account = ownerOfEndpoint.get(endpoint);
      return account === undefined || status !== 200 ? [] : [{ kind: "delivery" as const, id, account }];
    }),
  ];
}

async function ask(scene: Scene, one: Asked): Promise<Chain> {
  const path = `/api/v1/why/${encodeURIComponent(one.id)}`;
  const owner = scene.members.find(({ account }) => account === one.account) as Member;
  const other = scene.members.find(({ account }) => account !== one.account) as Member;
  const [own, foreign] = await Promise.all([
    insist(scene, () => owner.http(path)),
    insist(scene, () => other.http(path)),
  ]);
  const steps = own?.status === 200 ? (own.json.items as Chain["steps"]) : null;
  return {
    ...one,
    steps: steps?.map(({ id, what, verdict, reason, link }) => ({ id, what, verdict, reason, link })) ?? null,
    statusOfOther: foreign?.status ?? null,
  };
}
