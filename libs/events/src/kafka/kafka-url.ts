import { readFileSync } from "node:fs";
import { definedMembers, seconds } from "@signalbox/core";
import type { KafkaConfig, OauthbearerProviderResponse } from "kafkajs";

/** The brokers, and how client and brokers authenticate each other. */
export interface KafkaServers {
  readonly brokers: readonly string[];
  readonly security: Pick<KafkaConfig, "ssl" | "sasl">;
}

const known = ["tls", "ca", "cert", "key", "sasl", "token-url", "scope"];
const tokenMsMax = seconds(10);

/**
 * Parses `kafka://user:password@host:port,host:port?tls=true&ca=<file>&sasl=scram-sha-512`. A client certificate is
 * `cert` and `key`; with `sasl=oauthbearer` user and password are those of a client at `token-url`.
 */
export function parseKafkaUrl(url: string): KafkaServers {
  const [, credentials, hosts = "", query] = /^kafka:\/\/(?:([^@/]*)@)?([^/?]+)\/?(?:\?(.*))?$/.exec(url) ?? [];
  if (hosts === "") throw new Error("events.url must have the form kafka://host:port,host:port");
  const options = new URLSearchParams(query);
  const unknown = [...options.keys()].find((name) => !known.includes(name));
  if (unknown) throw new Error(`events.url has the unknown option ${unknown}; known options are ${known.join(", ")}`);
  const ssl = tlsOf(options);
  const sasl = saslOf(options, credentials);
  if (sasl && !ssl && sasl.mechanism === "plain")
    throw new Error("events.url would send a password in cleartext: add tls=true");
  return { brokers: hosts.split(","), security: definedMembers({ ssl, sasl }) };
}

function tlsOf(options: URLSearchParams): KafkaConfig["ssl"] {
  const files = ["ca", "cert", "key"].filter((name) => options.has(name));
  if (options.get("tls") !== "true") {
    if (files.length > 0) throw new Error(`events.url names ${files.join(", ")} without tls=true`);
    return undefined;
  }
  const [ca, cert, key] = ["ca", "cert", "key"].map((name) => {
    const path = options.get(name);
    return path === null ? undefined : readFileSync(path, "utf8") || undefined;
  });
  return definedMembers({ ca: ca && [ca], cert, key });
}

function saslOf(options: URLSearchParams, credentials: string | undefined): KafkaConfig["sasl"] {
  const mechanism = options.get("sasl");
  if (mechanism === null) {
    if (credentials) throw new Error("events.url has credentials but no sasl= mechanism");
    return undefined;
  }
  const [username = "", password = ""] = (credentials ?? "").split(":").map(decodeURIComponent);
  if (!username || !password) throw new Error(`events.url with sasl=${mechanism} needs user:password@`);
  switch (mechanism) {
    case "plain":
    case "scram-sha-256":
    case "scram-sha-512":
      return { mechanism, username, password } as KafkaConfig["sasl"];
    case "oauthbearer": {
      const tokenUrl = options.get("token-url");
      if (!tokenUrl) throw new Error("events.url with sasl=oauthbearer needs token-url");
      const client = { username, password, tokenUrl, scope: options.get("scope") };
      return { mechanism, oauthBearerProvider: () => requestToken(client) };
    }
    default:
      throw new Error(
        `events.url has the unknown mechanism sasl=${mechanism}; known ones are plain, scram-sha-256, scram-sha-512 and oauthbearer`,
      );
  }
}

interface TokenClient {
  readonly username: string;
  readonly password: string;
  readonly tokenUrl: string;
  readonly scope: string | null;
}

/** Asks the issuer for an access token (RFC 6749 §4.4), for each connection and whenever its token expires. */
async function requestToken(client: TokenClient): Promise<OauthbearerProviderResponse> {
  const { username, password, tokenUrl, scope } = client;
  const answer = await fetch(tokenUrl, {
    method: "POST",
    redirect: "error",
    headers: { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", ...(scope && { scope }) }),
    signal: AbortSignal.timeout(tokenMsMax),
  });
  if (!answer.ok) throw new Error(`The token issuer for Kafka answered with status ${answer.status}`);
  const { access_token: value } = (await answer.json()) as { access_token?: unknown };
  if (typeof value !== "string") throw new Error("The token issuer for Kafka answered without a token");
  return { value };
}
