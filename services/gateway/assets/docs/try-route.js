/** The form that sends a request to this deployment. The credential stays in the memory of the page. */
import { pathOf } from "./samples.js";

const shownMax = 100_000;
/** Streams have no end; longer than any other answer takes. */
const waitMs = 30_000;

export function tryForm(route, readKey, element) {
  const inputs = route.parameters
    .filter(({ in: where }) => where === "path" || where === "query")
    .map((parameter) => ({ parameter, input: inputOf(route, parameter, element) }));
  const body = bodyInput(route, element);
  const output = element("div", { role: "status" });
  const form = element(
    "form",
    { class: "try" },
    ...inputs.flatMap(({ parameter, input }) => [
      element("label", { for: input.id }, `${parameter.name}${parameter.required ? "" : " (optional)"}`),
      input,
    ]),
    ...(body ? [element("label", { for: body.id }, "Body"), body] : []),
    element("button", {}, "Send"),
    output,
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send(route, { inputs, body, key: readKey() }).then(
      (answer) => output.replaceChildren(...shown(answer, element)),
      (error) => output.replaceChildren(element("p", { class: "bad" }, `Nothing came back: ${error.message}`)),
    );
  });
  return form;
}

function inputOf({ operation }, { name, in: where, example, required }, element) {
  const input = element("input", { id: `${operation.operationId}-${where}-${name}`, autocomplete: "off" });
  if (required) {
    input.required = true;
    input.placeholder = String(example ?? "");
  }
  return input;
}

function bodyInput({ operation, mediaType, example }, element) {
  if (!mediaType) return null;
  const id = `${operation.operationId}-body`;
  if (mediaType === "multipart/form-data") return element("input", { id, type: "file" });
  const area = element("textarea", { id, spellcheck: "false" });
  area.value = typeof example === "string" ? example : JSON.stringify(example ?? {}, null, 2);
  return area;
}

async function send(route, { inputs, body, key }) {
  const { method, mediaType, root } = route;
  const readValue = ({ name }) =>
    inputs.find(({ parameter }) => parameter.in === "path" && parameter.name === name).input.value;
  const url = new URL(pathOf(route, readValue).slice(1), root);
  for (const { parameter, input } of inputs) {
    if (parameter.in === "query" && input.value !== "") url.searchParams.set(parameter.name, input.value);
  }
  const headers = {
    Accept: "application/json, */*;q=0.5",
    ...(key.startsWith("sbx_") && { "X-API-Key": key }),
    ...(key !== "" && !key.startsWith("sbx_") && { Authorization: `Bearer ${key}` }),
    ...(mediaType && mediaType !== "multipart/form-data" && { "Content-Type": mediaType }),
  };
  // Without cookies: only the credential that was typed in counts.
  const answer = await fetch(url, {
    method: method.toUpperCase(),
    headers,
    credentials: "omit",
    signal: AbortSignal.timeout(waitMs),
    ...(body && { body: content(body) }),
  });
  return { answer, bytes: await answer.arrayBuffer() };
}

function content(body) {
  if (body.type !== "file") return body.value;
  const form = new FormData();
  if (body.files[0]) form.append("file", body.files[0]);
  return form;
}

function shown({ answer, bytes }, element) {
  const type = answer.headers.get("content-type") ?? "";
  const id = answer.headers.get("x-request-id") ?? "none";
  const line = `${answer.status}, ${bytes.byteLength} bytes, request id ${id}`;
  const heading = element("p", answer.ok ? {} : { class: "bad" }, line);
  if (bytes.byteLength === 0) return [heading];
  if (!/json|text|yaml|graphql/.test(type)) return [heading, element("p", {}, `The body is ${type}.`)];
  const text = new TextDecoder().decode(bytes.slice(0, shownMax));
  return [heading, element("pre", { tabindex: "0", class: "answer" }, element("code", {}, pretty(text, type)))];
}

function pretty(text, type) {
  if (!type.includes("json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
