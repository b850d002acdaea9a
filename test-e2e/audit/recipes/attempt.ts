import type { ClientRequest } from "../../journey/client.ts";
import type { Headers, World } from "../world.ts";

/** A prepared write. */
export interface Attempt {
  readonly by: Headers;
  readonly path: string;
  readonly request: ClientRequest;
  /** Actions of the operations that lead to the walked one. */
  readonly besides?: readonly string[];
}

type Recipe = (world: World) => Promise<Attempt>;

/** Recipes by the operation that they run. */
export type Recipes = Readonly<Record<string, Recipe>>;

/** Who makes a write, and what its path and its input name. */
export interface Prepared {
  readonly by: Headers;
  readonly ids: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Prepare = (world: World) => Promise<Prepared>;

/** A body or an input; of a field also its text, in which `{id}` stands for an id. Null for a request without a body. */
type Input = object | string | null;

/** Makes the recipes of operations that need the same things, by what each is given. */
export function recipesOf(
  prepare: Prepare,
  inputs: Readonly<Record<string, Input | ((prepared: Prepared, world: World) => Input)>>,
): Recipes {
  const entries = Object.entries(inputs).map(([operation, input]) => {
    const recipe: Recipe = async (world) => {
      const prepared = await prepare(world);
      return attemptOf(operation, prepared, typeof input === "function" ? input(prepared, world) : input);
    };
    return [operation, recipe] as const;
  });
  return Object.fromEntries(entries);
}

function attemptOf(operation: string, { by, ids, headers }: Prepared, input: Input): Attempt {
  const [method = "", template] = operation.split(" ");
  if (template !== undefined) {
    const path = filled(template, ids, encodeURIComponent);
    return { by, path, request: { method, ...(headers && { headers }), ...(input !== null && { body: input }) } };
  }
  const [type, name = ""] = operation.split(".");
  if (typeof input === "object" && input !== null) return graph(by, name, input);
  const text = filled(input ?? name, ids, JSON.stringify);
  const query = type === "Mutation" ? `mutation { ${text} { errors { field message } } }` : `{ ${text} }`;
  const besides = type === "Account" ? { besides: ["account.read"] } : {};
  return { by, path: "/graphql", request: { body: { query } }, ...besides };
}

const filled = (text: string, ids: Prepared["ids"], written: (id: string) => string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => written(ids[name] ?? ""));

/** A mutation with one input, whose payload shows its failures. */
export function graph(by: Headers, name: string, input: object): Attempt {
  const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation ($input: ${type}!) { ${name}(input: $input) { errors { field message } } }`;
  return { by, path: "/graphql", request: { body: { query, variables: { input } } } };
}

/** A new person. */
export const someone: Prepare = async ({ person }) => {
  const { headers, id, address } = await person();
  return { by: headers, ids: { account_id: id, address } };
};

export const administrator: Prepare = async ({ administrator: by }) => ({ by, ids: {} });

/** The same things, written to by an administrator. */
export const byAdministrator =
  (prepare: Prepare): Prepare =>
  async (world) => ({ ...(await prepare(world)), by: world.administrator });
