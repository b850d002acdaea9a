import { once } from "node:events";
import { createServer, type RequestListener, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Harness } from "./harness.ts";
import { startIssuer } from "./oauth-fixture.ts";
import { applications } from "./oauth-visitor.ts";

/** A server on a port of its own, closed with the test. */
export async function serve(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  t.after(() => server.closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts the service behind an edge whose address is known beforehand, because the service's URLs contain it. */
export async function startBehindEdge(
  t: TestContext,
  host: "127.0.0.1" | "localhost" = "127.0.0.1",
  more: Parameters<typeof startIssuer>[0] = {},
): Promise<{ edge: string; account: Harness }> {
  let account: Harness | null = null;
  const address = await serve(t, (request, response) => {
    const { method, headers, url } = request;
    const forwarded = send(`${account?.url}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  // Browsers allow passkeys at a name and not at an address.
  const edge = address.replace("127.0.0.1", host);
  account = await startIssuer({ "http.base-url": edge, "account.oauth.applications": applications, ...more });
  t.after(() => account?.close());
  return { edge, account };
}
