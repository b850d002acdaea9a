import type { ClientRequest } from "../../journey/client.ts";
import type { Headers, Person, World } from "../world.ts";

/** A write that is ready to be made. */
export interface Attempt {
  readonly by: Headers;
  readonly path: string;
  readonly request: ClientRequest;
}

export type Recipe = (world: World) => Promise<Attempt>;

/** Recipes by the operation that they make. */
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

/** A mutation whose arguments stand in its text, and whose payload shows its failures. */
export const mutation = ({ headers: by }: Pick<Person, "headers">, call: string): Attempt => ({
  by,
  path: "/graphql",
  request: { body: { query: `mutation { ${call} { errors { message } } }` } },
});

/** A mutation of one input, whose payload shows its failures. */
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

/** A write of somebody new, who needs nothing for it. */
export const fresh =
  (make: (person: Person, world: World) => Attempt | Promise<Attempt>): Recipe =>
  async (world) =>
    make(await world.person(), world);
