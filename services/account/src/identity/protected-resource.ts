import type { RequestListener } from "node:http";
import { parseIssuers } from "@signalbox/auth";
import { scopes } from "@signalbox/contracts";
import { errorBody } from "@signalbox/core";
import { defaultMessages, isNotModified, resourceMetadataPrefix, strongEtag } from "@signalbox/http";
import type { AccountService } from "../context/account-service.ts";
import { mountPath } from "./issuer-settings.ts";

const methods = "GET, HEAD, OPTIONS";

/** Describes the API as a protected resource, so that a client finds the issuers of its tokens (RFC 9728). */
export function protectedResourceListener({ configuration }: AccountService): RequestListener {
  const resource = configuration.get("http.base-url");
  const builtIn = configuration.get("account.issuer.enabled") ? [`${resource}${mountPath}`] : [];
  const others = parseIssuers(configuration.get("auth.issuers")).map(({ issuer }) => issuer);
  const document = JSON.stringify({
    resource,
    authorization_servers: [...builtIn, ...others],
    scopes_supported: scopes,
    bearer_methods_supported: ["header"],
    resource_name: configuration.get("server.name"),
  });
  const etag = strongEtag(document, resourceMetadataPrefix);
  // An edge may have removed the path of the deployment.
  const { pathname } = new URL(resource);
  const paths = new Set([resourceMetadataPrefix, `${resourceMetadataPrefix}${pathname.replace(/\/$/, "")}`]);

  return ({ method = "", url = "", headers }, response) => {
    const [path = ""] = url.split("?", 1);
    response.setHeader("Access-Control-Allow-Origin", "*");
    if (!paths.has(path)) return refuse(404, "not_found");
    if (method === "OPTIONS") return void response.writeHead(204, { Allow: methods }).end();
    if (method !== "GET" && method !== "HEAD") return refuse(405, "method_not_allowed");
    response.setHeader("Cache-Control", "public, max-age=300");
    response.setHeader("ETag", etag);
    if (isNotModified({ headers }, etag)) return void response.writeHead(304).end();
    response.writeHead(200, { "Content-Type": "application/json" }).end(method === "HEAD" ? undefined : document);

    function refuse(status: number, code: "not_found" | "method_not_allowed"): void {
      const requestId = String(response.getHeader("X-Request-Id") ?? "");
      const body = errorBody({
        code,
        message: defaultMessages[code],
        requestId,
        docs: configuration.get("http.error-docs"),
      });
      response.writeHead(status, { "Content-Type": "application/json", Allow: methods }).end(JSON.stringify(body));
    }
  };
}
