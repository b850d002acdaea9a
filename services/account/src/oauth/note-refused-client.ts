import type { Clock } from "@signalbox/core";
import type { KoaContextWithOIDC } from "oidc-provider";
import type { Actor } from "../audit/audit.ts";
import type { NoteRefusal } from "../audit/note-refusal.ts";
import { statusOf } from "../credentials/credential.ts";
import type { ServiceClient, ServiceClientStore } from "../credentials/service-client.ts";

/** A request that did not prove to be a client's. */
export interface RefusedClient {
  /** Who it said that it was. */
  readonly clientId: string;
  readonly by: Pick<Actor, "address" | "requestId">;
}

interface Dependencies {
  readonly clients: Pick<ServiceClientStore, "findUsable" | "findById">;
  readonly clock: Clock;
  readonly noteRefusal: NoteRefusal;
}

/** Tells the owner of a service client of a wrong secret, or of who still uses a client that was ended. */
export function createNoteRefusedClient({ clients, clock, noteRefusal }: Dependencies) {
  return async function noteRefusedClient({ clientId, by }: RefusedClient): Promise<void> {
    const client = await clients.findById(clientId);
    if (!client) return;
    const { accountId } = client;
    const reason = await reasonOf(client);
    const who: Actor = { kind: "owner", accountId, credential: clientId, ...by };
    const fields = [reason === "wrong_secret" ? "client_secret" : "status"];
    noteRefusal({ accountId, operation: "client.use", reason, fields, subject: clientId, by: who });
  };

  async function reasonOf(client: ServiceClient): Promise<string> {
    const status = statusOf(client, clock.now());
    if (status !== "active") return status;
    return (await clients.findUsable(client.id)) ? "wrong_secret" : "account_deleted";
  }
}

export type NoteRefusedClient = ReturnType<typeof createNoteRefusedClient>;

const basic = /^basic +([A-Za-z0-9+/]+=*)$/i;

/** The service client that a request says it is from, rightly or not (RFC 6749 §2.3.1); null for anybody else. */
export function claimedClientId({ oidc, headers }: KoaContextWithOIDC): string | null {
  const [, encoded = ""] = basic.exec(headers.authorization ?? "") ?? [];
  const [named = ""] = Buffer.from(encoded, "base64").toString().split(":", 1);
  const id = String(oidc.params?.client_id ?? named);
  return /^cli_[0-9A-Za-z]{1,60}$/.test(id) ? id : null;
}
