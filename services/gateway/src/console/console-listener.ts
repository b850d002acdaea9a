import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, brotliDecompressSync, constants, gzip } from "node:zlib";
import { errorBody, errorDocsAt, requestIdOf } from "@signalbox/core";
import type { Properties } from "@signalbox/gateway-service/properties";
import type { Configuration } from "@signalbox/runtime";

/** The prefix of the console, and of no other page. */
export const consolePath = "/console";

/** Made from `services/console` by `npm run generate`: every built file by its path. */
const archive = new URL("../../assets/console.json.br", import.meta.url);

/** The prefix of the portal: a second page of the same build, which other origins may frame. */
const portalFolder = "portal";

/** The page to which a sign-in returns: in the window that the console has opened, or it would lose that window. */
const callback = "callback";

/**
 * Everything comes from this deployment, no script or style is in the page, and no text becomes a script. Images may be
 * `blob:`, since those of an account are read with a credential, which an address cannot carry.
 */
const policyFor = (ancestors: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' blob: data:",
    "connect-src 'self'",
    "form-action 'none'",
    `frame-ancestors ${ancestors}`,
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  md: "text/markdown; charset=utf-8",
};

/** A file in the codings that browsers ask for. */
interface Coded {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly br: Buffer;
  readonly gzip: Buffer;
}

/**
 * Serves the built console: files with a digest in their name for a year, and the page at every other address below the
 * prefix, since the console reads its own addresses.
 */
export function createConsoleListener(configuration: Configuration<Properties>): RequestListener {
  const docs = errorDocsAt(configuration.get("http.error-docs"), configuration.get("http.base-url"));
  const policies = {
    index: policyFor("'none'"),
    portal: policyFor(configuration.get("console.portal.origins").join(" ") || "'none'"),
  };
  let files: Promise<Readonly<Record<string, string>>> | undefined;
  const coded = new Map<string, Promise<Coded>>();

  // Read at the first request, so that no start waits for it.
  const readFiles = () => {
    files ??= readFile(archive).then((bytes) => JSON.parse(brotliDecompressSync(bytes).toString()).files);
    return files;
  };

  async function codedFile(path: string): Promise<Coded | null> {
    const known = await readFiles();
    const text = Object.hasOwn(known, path) ? known[path] : undefined;
    if (text === undefined) return null;
    const kept = coded.get(path) ?? code(path, text);
    coded.set(path, kept);
    return kept;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = pathOf(request);
    const refused = (code: Refused, message: string) => refuse(request, response, { code, message, docs });
    if (request.method !== "GET" && request.method !== "HEAD")
      return refused("method_not_allowed", "The console is read-only: use GET or HEAD.");
    if (!configuration.get("console.enabled")) return refused("not_found", "This deployment has no console.");
    if (path === consolePath) return void response.writeHead(308, { Location: "console/" }).end();
    const below = path.slice(consolePath.length + 1);
    if (below.startsWith("assets/")) {
      const file = await codedFile(below);
      if (!file) return refused("not_found", "There is no such file.");
      return send(request, response, file, { "Cache-Control": "public, max-age=31536000, immutable" });
    }
    if (below === portalFolder) return void response.writeHead(308, { Location: `${portalFolder}/` }).end();
    const name = below.startsWith(`${portalFolder}/`) ? "portal" : "index";
    const page = await pageAt(name, below.split("/").length - 1);
    const isOpened = name === "portal" || below === callback;
    send(request, response, page, {
      "Cache-Control": "no-cache",
      "Content-Security-Policy": policies[name],
      "Cross-Origin-Opener-Policy": isOpened ? "unsafe-none" : "same-origin-allow-popups",
    });
  }

  /** The page names its files relatively, since a deployment may be below a path. */
  async function pageAt(name: keyof typeof policies, depth: number): Promise<Coded> {
    const place = `${name} ${depth}`;
    const html = (await readFiles())[`${name}.html`] ?? "";
    const kept = coded.get(place) ?? code(`${name}.html`, html.replaceAll('="./', `="${"../".repeat(depth)}`));
    // Nobody fills the memory with deep addresses.
    if (depth <= 8) coded.set(place, kept);
    return kept;
  }

  return (request, response) =>
    void answer(request, response).catch(() =>
      refuse(request, response, { code: "server_error", message: "The console cannot be read.", docs }),
    );
}

async function code(path: string, text: string): Promise<Coded> {
  const plain = Buffer.from(text);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  const [br, zipped] = await Promise.all([promisify(brotliCompress)(plain, quality), promisify(gzip)(plain)]);
  const type = types[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
  return { type, etag: hash("sha256", plain, "base64url").slice(0, 22), plain, br, gzip: zipped };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { type, etag, ...bodies }: Coded,
  own: Readonly<Record<string, string>>,
): void {
  const coding = codingFor(request);
  const tag = `"${etag}-${coding}"`;
  const headers = { ...own, ETag: tag, Vary: "Accept-Encoding" };
  if (request.headers["if-none-match"] === tag) return void response.writeHead(304, headers).end();
  const body = bodies[coding];
  const coded: Record<string, string> = coding === "plain" ? {} : { "Content-Encoding": coding };
  const length = { "Content-Type": type, "Content-Length": String(body.length) };
  response.writeHead(200, { ...headers, ...coded, ...length }).end(request.method === "HEAD" ? undefined : body);
}

/** A coding with `q=0` is refused; browsers send none. */
function codingFor({ headers }: IncomingMessage): "br" | "gzip" | "plain" {
  const accepted = String(headers["accept-encoding"] ?? "")
    .split(",")
    .map((part) => part.trim().toLowerCase());
  return accepted.includes("br") ? "br" : accepted.includes("gzip") ? "gzip" : "plain";
}

const statuses = { method_not_allowed: 405, not_found: 404, server_error: 500 } as const;

type Refused = keyof typeof statuses;

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  { code, message, docs }: { readonly code: Refused; readonly message: string; readonly docs: string },
): void {
  const body = errorBody({ code, message, docs, requestId: requestIdOf(request.headers["x-request-id"]) });
  const allow: Record<string, string> = code === "method_not_allowed" ? { Allow: "GET, HEAD" } : {};
  const headers = { ...allow, "Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store" };
  response.writeHead(statuses[code], headers).end(body);
}

const pathOf = ({ url = "" }: IncomingMessage): string => url.split("?", 1)[0] ?? "";
