import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { answerFromPrincipal, type Principal } from "@signalbox/auth";
import { type Scope, scopes } from "@signalbox/contracts";
import { randomId } from "@signalbox/core";

/** Someone with an account of their own. The token itself says who they are, to the stand-in for the account service. */
export interface Person {
  readonly accountId: string;
  readonly headers: { readonly authorization: string };
  readonly principal: Principal;
}

interface Claims {
  readonly accountId?: string;
  readonly scopes?: readonly Scope[];
  /** When they signed in; now when left out. */
  readonly authTimeMs?: number;
}

export function person({ accountId = randomId("acc"), scopes: granted = scopes, authTimeMs }: Claims = {}): Person {
  const claims = { accountId, granted, authTimeMs: authTimeMs ?? Date.now(), jti: crypto.randomUUID() };
  const token = Buffer.from(JSON.stringify(claims)).toString("base64url");
  return { accountId, headers: { authorization: `Bearer ${token}` }, principal: principalIn(token) };
}

function principalIn(token: string): Principal {
  const { accountId, granted, authTimeMs, jti } = JSON.parse(Buffer.from(token, "base64url").toString());
  const credential = { kind: "token", id: jti, authTimeMs } as const;
  return { accountId, state: "active", epoch: 0, scopes: new Set(granted), roles: [], credential, expiresAt: null };
}

/** Answers `POST /internal/principals` as the account service does. */
export function startAccountStandIn() {
  return listen((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      try {
        const { value } = JSON.parse(Buffer.concat(chunks).toString());
        response.end(JSON.stringify(answerFromPrincipal(principalIn(value))));
      } catch {
        response.writeHead(422).end(JSON.stringify({ error: { message: "unknown" } }));
      }
    });
  });
}

export async function listen(listener: RequestListener | undefined) {
  if (!listener) throw new Error("the service has no such listener");
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
