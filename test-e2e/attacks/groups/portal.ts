import { expectStatus } from "../../journey/client.ts";
import type { Attack } from "../runner/attack.ts";
import { httpAttack, refusedAs } from "../runner/http-attack.ts";
import { inLanes } from "../runner/run-attacks.ts";
import type { TrustingScene } from "../scene/trusting-scene.ts";
import { marksOf, missingTo, showsNothingOf } from "./cross-account.ts";
import type { Group } from "./group.ts";
import { callsOf, isRead, type Operation, operationsOf } from "./operations.ts";
import type { Owner } from "./owned-things.ts";

/** Every operation and field, asked by a portal session of the very account, which is bound to another endpoint. */
export const portal: Group = {
  name: "portal",
  atOnce: 8,
  async rows(scenes) {
    const scene = await scenes.trusting();
    const { operations, owner } = await operationsOf(scene);
    const closed = operations.filter(({ isOpen }) => !isOpen);
    // Each write has its own owner. A session is made before any of them loses the account.
    const rows: Attack[] = [];
    // Hundreds of owners at once are more than a busy machine has connections for.
    await inLanes(closed, 8, async (operation) => rows.push(...(await rowsOf(operation, scene, owner))));
    return rows;
  },
};

const sessions = "/api/v1/webhooks/portal-sessions";
const otherEndpoint = { url: "https://hooks.example.org/other", event_types: ["account.updated"] };

async function rowsOf(operation: Operation, scene: TrustingScene, owner: Owner): Promise<Attack[]> {
  const { name, attempt, admitsPortal, namesThing } = operation;
  const { path, by } = attempt;
  const { send } = scene;
  const { as, control } = callsOf(operation, scene);
  const other = await send("/api/v1/webhooks/endpoints", { headers: by, body: otherEndpoint });
  // Owners of some operations have lost the right to make anything, such as by a disabled account.
  if (other.status === 403) return [];
  const endpoint_ids = [expectStatus(other, 201).json.id];
  const made = await send(sessions, { headers: by, body: { endpoint_ids, access: "manage" } });
  const secret = new URL(expectStatus(made, 201).json.url).hash.slice(1);
  // A session names the account that it is of.
  const marks = marksOf(owner).filter((mark) => !path.includes(mark) && mark !== owner.things.account);
  const isList = isRead(operation) && !namesThing;
  const judged = admitsPortal
    ? {
        must: isList ? "show nothing of other endpoints" : "read as missing",
        judge: isList ? showsNothingOf(marks) : missingTo(marks),
      }
    : { must: "be forbidden", judge: refusedAs("forbidden") };
  return [
    httpAttack({
      ...as({ authorization: `Bearer ${secret}` }),
      what: `${name} by a portal session of another endpoint`,
      control,
      ...judged,
    }),
  ];
}
