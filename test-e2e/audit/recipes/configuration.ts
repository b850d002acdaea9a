import { randomBytes } from "node:crypto";
import type { World } from "../world.ts";
import { administrator, type Prepare, type Recipes, recipesOf } from "./attempt.ts";

const property = "limits.maxPageSize";
/** The default: another value changes what the lists that are read beside it accept. */
const pageSize = 100;

/** The revision that a property has now. */
const revised =
  (name: string): Prepare =>
  async ({ send, administrator: by }) => {
    const query = "{ properties { name override { revision } } }";
    const { properties } = (await send(by, "/graphql", { body: { query } })).json.data;
    const found = properties.find((one: { name: string }) => one.name === name);
    return { by, ids: { name, expectedRevision: found?.override?.revision ?? "0" } };
  };

const newest: Prepare = async ({ send, administrator: by }) => ({
  by,
  ids: { expectedRevision: (await send(by, "/api/v1/status/config")).json.revision },
});

/** Each write has its own property: prepared together on one, all but the first would be stale. */
const changes = ({ ids }: { readonly ids: object }) => ({ changes: [{ ...ids, value: 76 }], reason: "walked" });

/** A change that somebody proposed. */
const proposed =
  (name: string, author: (world: World) => World["administrator"]): Prepare =>
  async (world) => {
    const input = changes(await revised(name)(world));
    const query = "mutation($input: ProposeChangeInput!) { proposeChange(input: $input) { proposal { id } } }";
    const { json } = await world.send(author(world), "/graphql", { body: { query, variables: { input } } });
    return { by: world.administrator, ids: { id: json.data.proposeChange.proposal.id } };
  };

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

const flag: Prepare = async ({ send, administrator: by }) => {
  const input = newFlag();
  const query = "mutation($input: SetFlagInput!) { setFlag(input: $input) { flag { revision } } }";
  const { json } = await send(by, "/graphql", { body: { query, variables: { input } } });
  return { by, ids: { key: input.key, expectedRevision: json.data.setFlag.flag.revision } };
};

/** Recipes of each audited write to the configuration. */
export const configurationRecipes: Recipes = {
  ...recipesOf(revised(property), {
    "Mutation.setProperty": ({ ids }) => ({ ...ids, value: pageSize }),
    "Mutation.unsetProperty": ({ ids }) => ids,
  }),
  ...recipesOf(revised("account.api-keys.max"), { "Mutation.setProperties": changes }),
  ...recipesOf(newest, { "Mutation.rollback": ({ ids }) => ({ ...ids, toRevision: "1", reason: "walked" }) }),
  ...recipesOf(revised("account.clients.max"), { "Mutation.proposeChange": changes }),
  ...recipesOf(
    proposed("config.streams.max-per-credential", (world) => world.secondAdministrator()),
    { "Mutation.approveChange": ({ ids }) => ids },
  ),
  ...recipesOf(
    proposed("config.streams.max", (world) => world.administrator),
    { "Mutation.withdrawChange": ({ ids }) => ids },
  ),
  ...recipesOf(administrator, { "Mutation.setFlag": newFlag }),
  ...recipesOf(flag, { "Mutation.archiveFlag": ({ ids }) => ({ ...ids, reason: "walked" }) }),
};
