import { dataOf, type Image } from "@signalbox/client";
import { api, sendAsPerson } from "../../session/api.ts";
import { randomId } from "../../session/random-id.ts";
import { sessionState } from "../../session/session.ts";
import { Store } from "../../session/store.ts";
import { byXmlHttpRequest } from "./xml-http-request.ts";

type UploadState =
  | { readonly kind: "waiting" }
  | { readonly kind: "sending"; readonly sentBytes: number; readonly totalBytes: number }
  | { readonly kind: "done"; readonly image: Image }
  | { readonly kind: "failed"; readonly error: Error }
  | { readonly kind: "cancelled" };

/** A file on its way to become an image. */
export interface Upload {
  readonly id: string;
  readonly file: File;
  readonly visibility: Image["visibility"];
  readonly state: UploadState;
}

/** Files that are sent at the same time: more share the same line and make each slower. */
const sendingMax = 3;

// Outside the pages: an upload goes on while the person looks at another one.
export const uploads = new Store<readonly Upload[]>([]);
const controllers = new Map<string, AbortController>();

function become(next: readonly Upload[]): void {
  const isBusy = next.some(({ state: { kind } }) => kind === "sending" || kind === "waiting");
  // The browser asks before it throws away files that are on their way.
  window.onbeforeunload = isBusy ? (event) => event.preventDefault() : null;
  uploads.set(next);
}

const change = (id: string, state: UploadState): void =>
  become(uploads.value.map((upload) => (upload.id === id ? { ...upload, state } : upload)));

/** Takes files; a few are sent at the same time, in the order in which they came. */
export function addUploads(files: Iterable<File>, visibility: Image["visibility"]): void {
  const added = [...files].map((file) => ({
    id: randomId(),
    file,
    visibility,
    state: { kind: "waiting" } as const,
  }));
  become([...added, ...uploads.value]);
  sendNext();
}

/** Stops an upload that waits or is sent. */
export function cancelUpload(id: string): void {
  controllers.get(id)?.abort();
  change(id, { kind: "cancelled" });
  sendNext();
}

/** Sends a file again that failed or was cancelled. */
export function retryUpload(id: string): void {
  change(id, { kind: "waiting" });
  sendNext();
}

/** Takes uploads off the list that have come to an end. */
export function forgetUploads(isForgotten: (upload: Upload) => boolean): void {
  become(uploads.value.filter((upload) => !isForgotten(upload)));
}

// The next person starts with an empty list, and nothing of the one before goes on.
sessionState.listen(() => {
  if (sessionState.value.kind !== "signed-out") return;
  for (const controller of controllers.values()) controller.abort();
  become([]);
});

function sendNext(): void {
  while (uploads.value.filter(({ state }) => state.kind === "sending").length < sendingMax) {
    const next = uploads.value.findLast(({ state }) => state.kind === "waiting");
    if (!next) return;
    void send(next);
  }
}

async function send({ id, file, visibility }: Upload): Promise<void> {
  const controller = new AbortController();
  controllers.set(id, controller);
  const { signal } = controller;
  const isCurrent = () => controllers.get(id) === controller && !signal.aborted;
  change(id, { kind: "sending", sentBytes: 0, totalBytes: file.size });
  const transport = byXmlHttpRequest((sentBytes, totalBytes) => {
    if (isCurrent()) change(id, { kind: "sending", sentBytes, totalBytes });
  });
  try {
    // The id of the row is the key: a second try after a lost answer makes no second image.
    const params = { header: { "Idempotency-Key": id } };
    const body = { file: file as unknown as string, visibility };
    const fetch = (request: Request) => sendAsPerson(request, transport);
    const answer = api.POST("/images", { params, body, signal, fetch });
    const image = await dataOf(answer);
    if (isCurrent()) change(id, { kind: "done", image });
  } catch (error) {
    if (isCurrent()) change(id, { kind: "failed", error: error as Error });
  } finally {
    if (controllers.get(id) === controller) controllers.delete(id);
    sendNext();
  }
}
