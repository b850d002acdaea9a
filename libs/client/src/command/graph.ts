import { dataOf } from "../answers.ts";
import type { Connection } from "./context.ts";
import { type ExitCode, exitCodes, Failure, withTexts } from "./failures.ts";

const exits: Readonly<Record<string, ExitCode>> = {
  FORBIDDEN: exitCodes.refused,
  UNAUTHENTICATED: exitCodes.refused,
  NOT_FOUND: exitCodes.notFound,
  UNAVAILABLE: exitCodes.unavailable,
};

/** Runs an operation of the graph, which has no route. @throws Failure with its first error */
export async function runOperation({ client }: Connection, query: string, variables: Record<string, unknown> = {}) {
  const { data, errors } = await dataOf(client.POST("/graphql", { body: { query, variables } }));
  const [error] = errors ?? [];
  if (error !== undefined) {
    const { code = "unknown" } = error.extensions ?? {};
    const { message } = withTexts(error, "message");
    throw new Failure(`${code.toLowerCase()}: ${message}`, exits[code] ?? exitCodes.failed);
  }
  return (data ?? {}) as Record<string, unknown>;
}

interface FieldError {
  readonly field: string | null;
  readonly message: string;
}

/** Runs a mutation, whose payload lists what is wrong with its input. @throws Failure with all of it */
export async function mutate<Payload>(connection: Connection, name: string, selection: string, input: object) {
  const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  const query = `mutation($input: ${type}!) { ${name}(input: $input) { ${selection} errors { field message } } }`;
  const payload = (await runOperation(connection, query, { input }))[name] as Payload & { errors: FieldError[] };
  if (payload.errors.length > 0) throw new Failure(payload.errors.map(({ message }) => message).join("\n"));
  return payload;
}
