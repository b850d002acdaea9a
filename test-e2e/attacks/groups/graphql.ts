import type { Attack } from "../runner/attack.ts";
import { httpAttack, httpControl, refusedAs, succeeds } from "../runner/http-attack.ts";
import type { Group } from "./group.ts";

/** Fields that the graph of the services has and that clients must not see. */
export const graphql: Group = {
  name: "graphql",
  atOnce: 8,
  async rows(scenes) {
    const { person, send } = await scenes.trusting();
    const { headers } = await person();
    const row = (query: string) => ({ send, path: "/graphql", request: { headers: { ...headers }, body: { query } } });
    const control = httpControl({ ...row("{ viewer { id } }"), what: "a plain query", judge: succeeds });
    const judge = refusedAs("validation_failed");
    return Object.entries(hidden).map(
      ([what, query]): Attack => httpAttack({ ...row(query), what, must: "be refused", judge, control }),
    );
  },
};

const first = "(first: 1) { edges { node";
const hidden: Readonly<Record<string, string>> = {
  "the schema of a service": "{ _service { sdl } }",
  ...Object.fromEntries(
    ["Account", "Image", "ApiKey", "WebhookEndpoint", "WebhookDelivery", "WebhookSource"].map((type) => [
      `an entity ${type} by its id`,
      `{ _entities(representations: [{ __typename: "${type}", id: "x" }]) { __typename } }`,
    ]),
  ),
  "a directive of the graph's own": "{ viewer @join__type(graph: ACCOUNT) { id } }",
  "an extension of a type": "extend type Account { secret: String }",
  "the digest of a key": `{ viewer { apiKeys${first} { digest key secret } } } }`,
  "the secret of an endpoint": `{ viewer { webhookEndpoints${first} { secret } } } }`,
  "the secret of a source": `{ viewer { webhookSources${first} { secret } } } }`,
};
