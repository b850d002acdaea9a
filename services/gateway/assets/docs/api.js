/** The page of all routes: read from the OpenAPI document of this deployment, with a form that sends a request. */
import { curlOf, typescriptOf } from "./samples.js";
import { exampleOf, membersOf, prose, resolve } from "./schemas.js";
import { offerSignIn } from "./sign-in.js";
import { tryForm } from "./try-route.js";

const root = new URL("../../", import.meta.url);
const place = document.querySelector("#operations");
const key = document.querySelector("#key");
document.querySelector("#credential").addEventListener("submit", (event) => event.preventDefault());
const [button, status] = ["#sign-in", "#signed-in"].map((name) => document.querySelector(name));
const onToken = (token) => {
  key.value = token;
};
void offerSignIn({ root, button, status, onToken }).catch((error) => {
  status.textContent = `The sign-in is not there now: ${error.message}`;
});

try {
  const answer = await fetch(new URL("openapi.json", root));
  if (!answer.ok) throw new Error(`The document of the routes answered ${answer.status}.`);
  showDocument(await answer.json());
} catch (error) {
  place.replaceChildren(element("p", { role: "alert" }, error.message));
}

function showDocument(spec) {
  const groups = spec.tags.map(({ name, description = "" }) =>
    element(
      "section",
      {},
      element("h2", { id: `tag-${name}` }, name),
      element("p", {}, description),
      ...routesOf(spec, name),
    ),
  );
  place.replaceChildren(...groups);
  openTarget();
  addEventListener("hashchange", openTarget);
}

function routesOf(spec, tag) {
  return Object.entries(spec.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags?.includes(tag))
      .map(([method, operation]) => route(spec, { path, method, operation })),
  );
}

/** A route is filled in when it is opened: all of them at once would be ten thousand elements. */
function route(spec, { path, method, operation }) {
  const { operationId: id = `${method} ${path}`, summary } = operation;
  const heading = element(
    "summary",
    {},
    element("code", { class: "method" }, method.toUpperCase()),
    element("code", {}, path),
    ` ${summary}`,
  );
  const details = element("details", { id, class: "route" }, heading);
  details.addEventListener("toggle", () => {
    if (details.open && details.children.length === 1) details.append(routeBody(spec, { path, method, operation }));
  });
  return details;
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.matches("details")) {
    target.open = true;
    target.scrollIntoView();
  }
}

function routeBody(spec, route) {
  const { operation } = route;
  const parameters = (operation.parameters ?? []).map((parameter) => resolve(spec, parameter));
  const [mediaType, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const example = content && exampleOf(spec, content);
  const whole = { ...route, parameters, mediaType, schema: content?.schema, example, root };
  return element(
    "div",
    {},
    element("p", {}, ...prose(operation.description ?? "", element)),
    element("p", { class: "soft" }, accessOf(operation)),
    ...section("Parameters", parameters.length > 0 && parameterList(spec, parameters)),
    ...section(`Body (${mediaType})`, content && [membersOf(spec, content.schema, element), ...jsonBlock(example)]),
    ...section("Answers", answers(spec, operation)),
    ...section("curl", element("pre", { tabindex: "0" }, element("code", {}, curlOf(whole)))),
    ...section("TypeScript", element("pre", { tabindex: "0" }, element("code", {}, typescriptOf(whole)))),
    ...section(
      "Try it",
      tryForm(whole, () => key.value.trim(), element),
    ),
  );
}

function accessOf({ security = [] }) {
  if (security.length === 0) return "No credential is needed.";
  const scopes = Object.values(security[0])[0] ?? [];
  return scopes.length === 0 ? "Needs a credential." : `Needs a credential with ${scopes.join(", ")}.`;
}

function parameterList(spec, parameters) {
  const items = parameters.map(({ name, in: where, required, description = "", schema }) =>
    element(
      "li",
      {},
      element("code", {}, name),
      ` ${where}${required ? ", required" : ""}. `,
      ...prose(description, element),
      " ",
      membersOf(spec, schema, element),
    ),
  );
  return element("ul", { class: "members" }, ...items);
}

function answers(spec, { responses }) {
  const items = Object.entries(responses).map(([status, given]) => {
    const response = resolve(spec, given);
    const [mediaType, content] = Object.entries(response.content ?? {})[0] ?? [];
    const heading = `${status} ${response.description ?? ""}`;
    if (!content) return element("p", {}, heading);
    const body = element("details", {}, element("summary", {}, `${heading} ${mediaType}`));
    body.addEventListener("toggle", () => {
      if (body.children.length === 1)
        body.append(membersOf(spec, content.schema, element), ...jsonBlock(exampleOf(spec, content)));
    });
    return body;
  });
  return element("div", {}, ...items);
}

function jsonBlock(value) {
  if (value === undefined) return [];
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return [element("pre", { tabindex: "0" }, element("code", {}, text))];
}

function section(title, content) {
  if (!content) return [];
  return [element("h3", {}, title), ...[content].flat()];
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}
