import { randomId } from "./random-id.ts";

type Send = (request: Request) => Promise<Response>;

/** Keys of changes whose outcome is not known: the answer was lost, or is still to come. */
const undecided = new Map<string, string>();
const undecidedMax = 100;
const running = new Map<string, Promise<Response>>();

/**
 * Sends a change under a key of its content, so that one intention has one effect: pressed twice it is sent once, and
 * pressed again after a lost answer it has its first key. Another content is another change, as is the same one after an
 * answer.
 */
export async function sendOnce(request: Request, send: Send): Promise<Response> {
  const type = request.headers.get("Content-Type");
  if (request.method !== "POST" || (type !== null && !type.startsWith("application/json"))) return send(request);
  const ifMatch = request.headers.get("If-Match") ?? "";
  const content = [request.url, ifMatch, await request.clone().text()].join("\n");
  const answer = await (running.get(content) ?? start(content, request, send));
  return answer.clone();
}

function start(content: string, request: Request, send: Send): Promise<Response> {
  const key = undecided.get(content) ?? randomId();
  undecided.set(content, key);
  for (const [oldest] of undecided) if (undecided.size > undecidedMax) undecided.delete(oldest);
  request.headers.set("Idempotency-Key", key);
  const answer = send(request).then((response) => {
    if (isDecided(response.status)) undecided.delete(content);
    return response;
  });
  running.set(content, answer);
  const end = () => void running.delete(content);
  answer.then(end, end);
  return answer;
}

/** After a fault of the server, or while the first one is under way, the change may have been made. */
const isDecided = (status: number): boolean => status < 500 && status !== 409 && status !== 429;
