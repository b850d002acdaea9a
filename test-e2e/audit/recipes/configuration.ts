import { randomBytes } from "node:crypto";
import type { World } from "../world.ts";
import { graph, type Recipes } from "./attempt.ts";

const property = "limits.maxPageSize";
/** The default: another value changes what the lists that are read beside it accept. */
const pageSize = 100;
async function revisionOf({ send, administrator }: World, wanted = property): Promise<string> {
  const query = "{ properties { name override { revision } } }";
  const { properties } = (await send(administrator, "/graphql", { body: { query } })).json.data;
  return properties.find(({ name }: { name: string }) => name === wanted)?.override?.revision ?? "0";
}

const newestRevision = async ({ send, administrator }: World): Promise<string> =>
  (await send(administrator, "/api/v1/status/config")).json.revision;

/** Each write has its own property: prepared together on one, all but the first would be stale. */
const changesOf = async (world: World, name: string) => [
  { name, value: 76, expectedRevision: await revisionOf(world, name) },
];

/** A change proposed by a person other than the administrator. */
async function proposed(world: World, name: string, by = world.administrator): Promise<string> {
  const query = `mutation($input: ProposeChangeInput!) { proposeChange(input: $input) { proposal { id } } }`;
  const variables = { input: { changes: await changesOf(world, name), reason: "walked" } };
  const { json } = await world.send(by, "/graphql", { body: { query, variables } });
  return json.data.proposeChange.proposal.id;
}

const newFlag = () => ({
  key: `walked.${randomBytes(6).toString("hex")}`,
  state: "enabled",
  type: "boolean",
  owner: "tests",
  variants: [{ name: "off", value: false }],
  default: "off",
  off: "off",
  expectedRevision: "0",
  reason: "walked",
});

/** Recipes of each audited write to the configuration. */
export const configurationRecipes: Recipes = {
  "Mutation.setProperty": async (world) => {
    const input = { name: property, value: pageSize, expectedRevision: await revisionOf(world) };
    return graph({ headers: world.administrator }, "setProperty", "SetPropertyInput", input);
  },
  "Mutation.unsetProperty": async (world) => {
    const input = { name: property, expectedRevision: await revisionOf(world) };
    return graph({ headers: world.administrator }, "unsetProperty", "UnsetPropertyInput", input);
  },
  "Mutation.setProperties": async (world) => {
    const input = { changes: await changesOf(world, "account.api-keys.max"), reason: "walked" };
    return graph({ headers: world.administrator }, "setProperties", "SetPropertiesInput", input);
  },
  "Mutation.rollback": async (world) => {
    const input = { toRevision: "1", expectedRevision: await newestRevision(world), reason: "walked" };
    return graph({ headers: world.administrator }, "rollback", "RollbackInput", input);
  },
  "Mutation.proposeChange": async (world) => {
    const input = { changes: await changesOf(world, "account.clients.max"), reason: "walked" };
    return graph({ headers: world.administrator }, "proposeChange", "ProposeChangeInput", input);
  },
  "Mutation.approveChange": async (world) => {
    const id = await proposed(world, "config.streams.max-per-credential", world.secondAdministrator());
    return graph({ headers: world.administrator }, "approveChange", "ApproveChangeInput", { id });
  },
  "Mutation.withdrawChange": async (world) => {
    const id = await proposed(world, "config.streams.max");
    return graph({ headers: world.administrator }, "withdrawChange", "WithdrawChangeInput", { id });
  },
  "Mutation.setFlag": ({ administrator }) =>
    Promise.resolve(graph({ headers: administrator }, "setFlag", "SetFlagInput", newFlag())),
  "Mutation.archiveFlag": async ({ send, administrator }) => {
    const flag = newFlag();
    const query = "mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } } }";
    const { json } = await send(administrator, "/graphql", { body: { query, variables: { input: flag } } });
    const { revision: expectedRevision } = json.data.setFlag.flag;
    const input = { key: flag.key, expectedRevision, reason: "walked" };
    return graph({ headers: administrator }, "archiveFlag", "ArchiveFlagInput", input);
  },
};
