import type { Answer, Client, ClientRequest } from "../../journey/client.ts";
import { type Attack, attack, type Control, control, type Finding } from "./attack.ts";

export type Judge = (answer: Answer) => Finding;

interface HttpTrial {
  readonly what: string;
  readonly send: Client;
  readonly path: string;
  readonly request?: ClientRequest;
  readonly judge: Judge;
  /** Answers of a weak system; by default those that nearly every judge must find. */
  readonly planted?: readonly Answer[];
}

type HttpAttack = HttpTrial & Pick<Attack, "must" | "control">;

/** Builds an answer that was never sent. */
export function plantedAnswer(status: number, json: unknown = {}, headers: Record<string, string> = {}): Answer {
  const all = new Headers({ "content-type": "application/json", ...headers });
  return { status, headers: all, bytes: Buffer.from(JSON.stringify(json)), json };
}

const letIn = [200, 201, 202, 204].map((status) => plantedAnswer(status, { id: "planted", data: {} }));
const fault = plantedAnswer(500, { error: { code: "server_error" } });
/** Answers of a system that admits everybody, or breaks. */
export const weakAnswers: readonly Answer[] = [...letIn, fault];
const nothingThere = plantedAnswer(404, { error: { code: "not_found" } });

/** Creates a row of one request. */
export function httpAttack({ send, path, request = {}, planted = weakAnswers, ...row }: HttpAttack): Attack {
  const attempt = () => send(path, request);
  return attack({ ...row, attempt, planted, repeat: asCommand(path, request) });
}

/** Creates a control of one request, which must succeed. */
export function httpControl({ send, path, request = {}, planted = [], ...row }: HttpTrial): Control {
  return control({ ...row, attempt: () => send(path, request), planted: [fault, nothingThere, ...planted] });
}

/** Summarises an answer for a report. */
export const shown = ({ status, bytes }: Answer): string => `${status} ${bytes.toString("utf8").slice(0, 300)}`;

/** Returns the error code of a REST or GraphQL answer. */
export const codeOf = ({ json }: Answer): string | undefined =>
  json?.error?.code ?? json?.errors?.[0]?.extensions?.code?.toLowerCase();

/** Finds a success unless the answer is a refusal with one of these codes. */
export const refusedAs =
  (...codes: readonly string[]): Judge =>
  (answer) => {
    const isRefusal = answer.status >= 400 || (answer.status === 200 && answer.json?.errors !== undefined);
    return isRefusal && codes.includes(codeOf(answer) ?? "") ? null : shown(answer);
  };

/** Finds a failure unless the answer is a success, including the payload of a mutation. */
export const succeeds: Judge = (answer) => {
  const payloads = Object.values<{ errors?: readonly unknown[] } | null>(answer.json?.data ?? {});
  const isWell = answer.status < 300 && answer.json?.errors === undefined;
  return isWell && payloads.every((payload) => (payload?.errors ?? []).length === 0) ? null : shown(answer);
};

/** Formats the request as a shell command. */
function asCommand(path: string, { method, headers = {}, body }: ClientRequest): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const named = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  const isJson = body !== undefined && !(body instanceof Buffer) && !(body instanceof FormData);
  if (isJson) named.push("-H 'content-type: application/json'", `-d ${quoted(JSON.stringify(body).slice(0, 2_000))}`);
  if (body instanceof Buffer) named.push(`--data-binary ${quoted(body.toString("latin1").slice(0, 500))}`);
  if (body instanceof FormData) named.push("-F 'file=@photo.jpg'");
  const verb = method ?? (body === undefined ? "GET" : "POST");
  return ["curl", "-i", "-X", verb, `"$BASE${path.slice(0, 1_000)}"`, ...named].join(" ");
}
