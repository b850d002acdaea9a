import { emitKeypressEvents } from "node:readline";
import { dataOf } from "../../answers.ts";
import type { Connection, Context } from "../context.ts";
import { describeFailure } from "../describe-failure.ts";
import { replacedNote } from "./line-view.ts";
import type { View, ViewOptions } from "./listener.ts";
import {
  emptyList,
  type MessageList,
  renderList,
  selectedRow,
  withAttempt,
  withKey,
  withSettled,
} from "./message-list.ts";

const enter = "\u001b[?1049h\u001b[?25l";
const leave = "\u001b[?25h\u001b[?1049l";
const home = "\u001b[H";
const clearLine = "\u001b[K";
/** Frames are at least this far apart, however many messages come. */
const frameMs = 40;

/** Creates the view of a terminal: a list of messages, driven by keys. */
export function createScreenView(
  { stdin, stdout, output }: Context,
  connection: Connection,
  { target, stop }: ViewOptions,
): View {
  let list: MessageList = emptyList;
  const header = { goal: target?.href ?? "this terminal", state: "connecting", secret: "", messages: 0 };
  let timer: NodeJS.Timeout | null = null;

  function draw(): void {
    timer = null;
    const frame = renderList(list, {
      title: titleOf(header),
      secret: secretOf(header),
      style: output.style,
      ...sizeOf(stdout),
    });
    stdout.write(home + frame.map((line) => line + clearLine).join("\r\n"));
  }
  function update(next: MessageList): void {
    list = next;
    timer ??= setTimeout(draw, frameMs);
  }
  const say = (notice: string) => update({ ...list, notice });
  const tell = (work: Promise<string>) =>
    void work.then(say, (error: unknown) => say(describeFailure(error).lines[0] ?? ""));

  function onKey(text: string | undefined, { name = "", ctrl = false }: { name?: string; ctrl?: boolean }): void {
    const id = selectedRow(list)?.attempt.message.delivery_id;
    if (name === "q" || (ctrl && name === "c")) stop();
    else if (name === "r" && id !== undefined) tell(again(connection, id));
    else if (name === "o" && id !== undefined) tell(openConsole(connection, id));
    else update(withKey(list, name || (text ?? "")));
  }

  emitKeypressEvents(stdin);
  stdin.setRawMode(true);
  stdin.on("keypress", onKey);
  stdin.resume();
  stdout.write(enter);
  stdout.on("resize", draw);
  draw();

  return {
    onEndpoint(endpoint, replaces) {
      header.secret = endpoint.secret;
      say(replaces ? replacedNote.replaceAll("\n", " ") : "");
    },
    onConnection(next, reason) {
      header.state = next === "lost" ? `reconnecting: ${reason}` : next;
      update(list);
    },
    onAttempt(attempt) {
      if (attempt.message.attempt === 1) header.messages += 1;
      update(withAttempt(list, attempt));
    },
    onSettled: (attempt, settled) => update(withSettled(list, attempt, settled)),
    close() {
      if (timer !== null) clearTimeout(timer);
      stdin.off("keypress", onKey).setRawMode(false).pause();
      stdout.off("resize", draw).write(leave);
      output.line(`${header.messages} messages.`);
      // The secret on the screen went with it, and a receiver still has to be given it.
      output.line(secretOf(header));
    },
  };
}

interface Header {
  readonly goal: string;
  readonly state: string;
  readonly secret: string;
  readonly messages: number;
}

const titleOf = ({ goal, state, messages }: Header): string =>
  `signalbox listen → ${goal}   ${state}   ${messages} messages`;

const secretOf = ({ secret }: Header): string => (secret === "" ? "" : `Signing secret ${secret}`);

/** A terminal that does not know its size says 0. */
const sizeOf = ({ columns, rows }: Context["stdout"]) => ({ columns: columns || 80, lines: rows || 24 });

/** Asks for another attempt, signed anew: it comes through the stream. */
async function again({ client }: Connection, deliveryId: string): Promise<string> {
  await dataOf(client.POST("/api/v1/webhooks/deliveries/{id}/retry", { params: { path: { id: deliveryId } } }));
  return `${deliveryId} will be sent again.`;
}

/** Opens the page of a delivery in the web console. */
async function openConsole({ baseUrl }: Connection, deliveryId: string): Promise<string> {
  const { openInBrowser } = await import("./open-in-browser.ts");
  return openInBrowser(`${baseUrl}/console/webhooks/deliveries/${encodeURIComponent(deliveryId)}`);
}
