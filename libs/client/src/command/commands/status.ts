import { ApiError, dataOf } from "../../answers.ts";
import type { Client } from "../../client.ts";
import { connect, findAccess } from "../connect.ts";
import type { Context } from "../context.ts";

/** Shows the address, the credential, and the deliveries of the last day as far as the credential may read them. */
export async function run(context: Context): Promise<void> {
  const { output, profiles } = context;
  const { profile, from } = await findAccess(context);
  const { baseUrl, client } = await connect(context);
  const credential = await dataOf(client.GET("/api/account/credential"));
  const webhooks = await webhooksOf(client);
  const source = from === "profile" ? `profile "${profile}" of ${profiles.path}` : from;
  const { kind, name, account_id: account, roles, scopes, expires_at: end } = credential;
  const rows = [
    ["URL", baseUrl],
    ["Account", account],
    ["Credential", [kind, name ?? credential.id, `from ${source}`].join(", ")],
    ["Roles", roles.join(" ") || "none"],
    ["Scopes", scopes.join(" ") || "none"],
    // A person's token is renewed until the sign-in ends.
    ["Expires", kind === "token" ? "with the sign-in" : (end ?? "never")],
    ...(webhooks === null ? [] : webhookRows(webhooks)),
  ];
  output.table(null, rows, (_, column) => (column === 0 ? "dim" : null));
  output.document({ url: baseUrl, profile: from === "profile" ? profile : null, credential, webhooks });
}

type Webhooks = NonNullable<Awaited<ReturnType<typeof webhooksOf>>>;

/** Returns the figures of the last day; null without the scope to read them. */
async function webhooksOf(client: Client) {
  try {
    const [statistics, failing] = await Promise.all([
      dataOf(client.GET("/api/v1/webhooks/statistics")),
      dataOf(client.GET("/api/v1/webhooks/endpoints", { params: { query: { failing: "true", limit: 100 } } })),
    ]);
    const [totals] = statistics.totals;
    return {
      delivered: totals?.delivered ?? 0,
      failed: totals?.failed ?? 0,
      p95_ms: totals?.p95_ms ?? null,
      oldest_due_at: statistics.oldest_due_at,
      failing: failing.items.map(({ id, url }) => ({ id, url })),
      more_failing: failing.has_more,
    };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return null;
    throw error;
  }
}

function webhookRows({ delivered, failed, p95_ms: p95, oldest_due_at: due, failing, more_failing: more }: Webhooks) {
  const speed = p95 === null ? "" : `, p95 ${Math.round(p95)} ms`;
  return [
    ["Attempts", `${delivered} delivered, ${failed} failed in 24 h${speed}`],
    ["Oldest due", due ?? "nothing is due"],
    ["Failing", failing.length === 0 ? "no endpoint" : `${failing.length}${more ? " and more" : ""} endpoints`],
    ...failing.map(({ id, url }) => ["", `${id} ${url ?? ""}`]),
  ];
}
