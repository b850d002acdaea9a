import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { AppError, type Clock } from "@signalbox/core";
import type { Properties } from "@signalbox/gateway-service/properties";
import { bytes, createRoutes, type Routes } from "@signalbox/http";
import type { Configuration } from "@signalbox/runtime";
import { z } from "zod";
import { publicLinks } from "./front-links.ts";

const types = { json: "application/json", html: "text/html", icon: "image/x-icon", text: "text/plain" };
const cache = "public, max-age=300";
const summary = "The account, image, configuration and webhook API of this deployment.";

const Front = z
  .object({
    name: z.literal("Signalbox").describe("The name of the product."),
    description: z.string().describe("A sentence about the product."),
    version: z.string().describe("The release that runs here."),
    links: z
      .record(z.string(), z.string())
      .describe("Absolute URLs of documentation, entry points and health, by name."),
  })
  .meta({
    id: "Front",
    examples: [
      {
        name: "Signalbox",
        description: summary,
        version: "0.2.0",
        links: { documents: "https://api.example.com/docs", graphql: "https://api.example.com/graphql" },
      },
    ],
  });

/** Serves what a browser and a program find at the bare address: a page or JSON, an icon, and the rules for crawlers. */
export function frontRoutes(configuration: Configuration<Properties>): Routes {
  const routes = createRoutes();
  const icon = readFileSync(new URL("../../assets/favicon.ico", import.meta.url));
  routes.get("/", {
    operationId: "front",
    summary: "Read the entry point",
    description: "A browser gets a page, any other program JSON with the same links.",
    auth: "anonymous",
    responses: { 200: { content: [types.json, types.html], schema: Front } },
    cache,
    handle: ({ mediaType }) =>
      mediaType === types.html
        ? bytes(Buffer.from(frontPage(configuration)), `${types.html}; charset=utf-8`, {
            headers: { "Content-Security-Policy": policy },
          })
        : bytes(Buffer.from(JSON.stringify(frontDocument(configuration))), `${types.json}; charset=utf-8`),
  });
  routes.get("/favicon.ico", {
    operationId: "favicon",
    summary: "Read the icon of the pages",
    description: "One picture of 32 × 32 pixels.",
    auth: "anonymous",
    responses: { 200: { content: [types.icon] } },
    ownNegotiation: true,
    cache: "public, max-age=86400",
    handle: () => bytes(icon, types.icon),
  });
  routes.get("/robots.txt", {
    operationId: "robotsTxt",
    summary: "Read the rules for crawlers",
    description: "Crawlers may only read the front page and the documentation (RFC 9309).",
    auth: "anonymous",
    responses: { 200: { content: [types.text], example: robots } },
    ownNegotiation: true,
    cache: "public, max-age=86400",
    handle: () => bytes(Buffer.from(robots), `${types.text}; charset=utf-8`),
  });
  return routes;
}

const robots = "User-agent: *\nAllow: /$\nAllow: /docs\nDisallow: /\n";

const versionOf = (configuration: Configuration<Properties>): string =>
  configuration.get("deployment.release") ?? "unreleased";

function frontDocument(configuration: Configuration<Properties>): z.output<typeof Front> {
  const baseUrl = configuration.get("http.base-url");
  const links = linksOf(configuration).map(({ id, path }) => [id, path.includes(":") ? path : `${baseUrl}/${path}`]);
  const version = versionOf(configuration);
  return { name: "Signalbox", description: summary, version, links: Object.fromEntries(links) };
}

function linksOf(configuration: Configuration<Properties>) {
  const healthUrl = configuration.get("http.health-url");
  const hasSignIn = configuration.get("account.issuer.enabled");
  return [
    ...publicLinks,
    { id: "api_reference", name: "API reference", path: "docs/api" },
    { id: "errors", name: "Error codes", path: "docs/errors" },
    ...(hasSignIn ? [{ id: "sign_in", name: "Sign in", path: "oauth" }] : []),
    ...(healthUrl === null ? [] : [{ id: "health", name: "Health", path: healthUrl }]),
  ];
}

const style = `:root{color-scheme:light dark;--page:#fff;--text:#1b1b1f;--link:#0b57d0}
@media (prefers-color-scheme:dark){:root{--page:#131316;--text:#f1f1f4;--link:#a8c7fa}}
body{background:var(--page);color:var(--text);font:1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:36rem;padding:2rem 1rem}
h1{font-size:1.5rem}
a{color:var(--link)}
dt{font-weight:600}
dd{margin:0 0 .75rem;overflow-wrap:anywhere}
:focus-visible{outline:.2rem solid;outline-offset:.15rem}`;

const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", style, "base64")}'`,
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

function frontPage(configuration: Configuration<Properties>): string {
  const rows = linksOf(configuration).map(
    ({ name, path }) =>
      `<dt>${name}</dt><dd><a href="${escaped(path)}">${escaped(path.includes(":") ? path : `/${path}`)}</a></dd>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
<link rel="icon" href="favicon.ico">
<style>${style}</style>
</head>
<body>
<main>
<h1>Signalbox</h1>
<p>${summary} Version ${escaped(versionOf(configuration))}. Everything that is not public needs a credential.</p>
<dl>
${rows.join("\n")}
</dl>
</main>
</body>
</html>
`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Serves the contact for reports of vulnerabilities (RFC 9116); without one there is no such file. */
export function securityTxtRoutes(configuration: Configuration<Properties>, clock: Clock): Routes {
  const routes = createRoutes();
  routes.get("/.well-known/security.txt", {
    operationId: "securityTxt",
    summary: "Read the security contact",
    description: "Where to report vulnerabilities of this deployment (RFC 9116); 404 if no contact is configured.",
    auth: "anonymous",
    responses: {
      200: {
        content: [types.text],
        example: "Contact: mailto:security@example.org\nExpires: 2027-05-01T00:00:00.000Z\nPreferred-Languages: en\n",
      },
      404: "error",
    },
    cache,
    handle: () => {
      const contact = configuration.get("http.security-contact");
      if (contact === null) throw new AppError("not_found", "This deployment has no contact for security reports.");
      return bytes(Buffer.from(securityTxt(contact, clock.nowMs())), `${types.text}; charset=utf-8`);
    },
  });
  return routes;
}

const dayMs = 86_400_000;
/** RFC 9116 wants less than a year. Who keeps a copy longer than this asks again. */
const validDays = 180;

/** From the start of a day, so that the text and its ETag stay the same until the next one. */
function securityTxt(contact: string, nowMs: number): string {
  const expires = new Date((Math.floor(nowMs / dayMs) + validDays) * dayMs).toISOString();
  return `Contact: ${contact}\nExpires: ${expires}\nPreferred-Languages: en\n`;
}
