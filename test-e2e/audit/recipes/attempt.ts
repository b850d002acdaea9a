import type { ClientRequest } from "../../journey/client.ts";
import type { Headers, Person, World } from "../world.ts";

/** A prepared write. */
export interface Attempt {
  readonly by: Headers;
  readonly path: string;
  readonly request: ClientRequest;
  /** Actions of the operations that lead to the walked one. */
  readonly besides?: readonly string[];
}

export type Recipe = (world: World) => Promise<Attempt>;

/** Recipes by the operation that they run. */
export type Recipes = Readonly<Record<string, Recipe>>;

export const rest = (
  { headers: by }: Pick<Person, "headers">,
  method: string,
  path: string,
  body?: unknown,
): Attempt => ({
  by,
  path,
  request: { method, ...(body !== undefined && { body }) },
});

/** A mutation with arguments in its text, whose payload shows its failures. */
export const mutation = ({ headers: by }: Pick<Person, "headers">, call: string): Attempt => ({
  by,
  path: "/graphql",
  request: { body: { query: `mutation { ${call} { errors { message } } }` } },
});

/** A mutation with one input, whose payload shows its failures. */
export const graph = (
  { headers: by }: Pick<Person, "headers">,
  name: string,
  type: string,
  input: object,
): Attempt => ({
  by,
  path: "/graphql",
  request: {
    body: {
      query: `mutation ($input: ${type}!) { ${name}(input: $input) { errors { field message } } }`,
      variables: { input },
    },
  },
});

/** A write of a new person, without preparation. */
export const fresh =
  (make: (person: Person, world: World) => Attempt | Promise<Attempt>): Recipe =>
  async (world) =>
    make(await world.person(), world);
