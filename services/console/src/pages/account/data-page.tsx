import { dataOf } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Answer, Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { reasonField } from "../../parts/fields.tsx";
import { FormAction } from "../../parts/form.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { saveFile } from "../../parts/save-file.ts";
import { useChange } from "../../parts/use-change.ts";
import { api, useCredential, useMay } from "../../session/api.ts";
import { forgetSession } from "../../session/session.ts";
import { bytesText } from "../image-queries.ts";
import { AccountFrame, accountQuery } from "./account-frame.tsx";

/** The data of the account: all of it as a file, and its end. */
export function DataPage() {
  const maySecure = useMay("account:security");
  return (
    <AccountFrame title="Export and deletion">
      {maySecure ? (
        <>
          <Export />
          <Deletion />
          <Curl path="api/account/export" />
        </>
      ) : (
        <p>This needs the scope account:security. Ask an administrator of your account for it.</p>
      )}
    </AccountFrame>
  );
}

/** Downloads everything that the account has. The document is written while it is read, so its size is known at the end. */
function Export() {
  const [bytes, setBytes] = useState(0);
  const stop = useRef<AbortController>(null);
  const download = useChange(async () => {
    const controller = new AbortController();
    stop.current = controller;
    setBytes(0);
    const { signal } = controller;
    const answer = api.GET("/api/account/export", { parseAs: "stream", signal });
    const stream = (await dataOf(answer)) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
    const pieces = await readAll(stream, setBytes);
    const blob = new Blob(pieces, { type: "application/json" });
    await checkComplete(blob);
    saveFile(blob, "signalbox-account.json");
    return blob.size;
  });
  const isStopped = stop.current?.signal.aborted ?? false;
  return (
    <Panel
      title="Export"
      actions={
        download.isPending ? (
          <Button label="Cancel" onClick={() => stop.current?.abort()} />
        ) : (
          <Button label="Download all data" className="main" onClick={() => download.mutate()} />
        )
      }
    >
      <p>
        One JSON document with the account, its logins, keys, passkeys, sign-ins and audit, and the records of its
        images, endpoints and sources. It contains no secrets and no image files. Needs a recent sign-in.
      </p>
      {download.isPending && <progress aria-label="Export" />}
      <p role="status" className={parts.quiet}>
        {download.isPending && `${bytesText(bytes)} so far …`}
        {download.data !== undefined && `Download complete: ${bytesText(download.data)}.`}
        {download.error && isStopped && "Cancelled; nothing was saved."}
      </p>
      {download.error && !isStopped && <Failure error={download.error} what="export" />}
    </Panel>
  );
}

async function readAll(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  onBytes: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const reader = stream.getReader();
  let bytes = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    pieces.push(read.value);
    bytes += read.value.length;
    onBytes(bytes);
  }
  return pieces;
}

const endBytes = 64;

/** @throws Error when the document broke off: its last member says that it is whole */
async function checkComplete(blob: Blob): Promise<void> {
  const end = await blob.slice(-endBytes).text();
  if (!/"complete":\s*true\s*}\s*$/.test(end)) throw new Error("The download ended before the document was complete.");
}

/** The two ends of an account: disabled, which an administrator undoes on request, and deleted. */
const Deletion = () => (
  <>
    <Panel title="Disable the account" actions={<Disable />}>
      <p>
        Nothing is lost, but nothing works: no key, no client, no delivery. You can still sign in, read the account and
        ask for reactivation. Only an administrator of this deployment can make it active again.
      </p>
    </Panel>
    <Panel title="Delete the account" actions={<Delete />}>
      <p>
        Every credential stops working at once, yours included. An administrator can undo it for a time; then the
        personal data, keys, images, endpoints and sources are erased for good.
      </p>
      <Preview />
    </Panel>
  </>
);

/** Counts of a list up to which a number is exact. */
const countedMax = 100;

interface Counted {
  readonly items: readonly unknown[];
  readonly has_more: boolean;
}

const countText = ({ items, has_more }: Counted): string => (has_more ? `more than ${countedMax}` : `${items.length}`);

/** Reads a page of each list that goes with the account, as far as the scopes allow. */
async function readPreview(scopes: readonly string[]) {
  const limit = { limit: countedMax };
  const lists: ReadonlyArray<readonly [scope: string, name: string, read: () => PromiseLike<Counted>]> = [
    ["account:read", "API keys", () => api.apiKeys.list(limit)],
    ["account:read", "Service clients", () => api.serviceClients.list(limit)],
    ["account:read", "Passkeys", () => api.passkeys.list(limit)],
    ["images:read", "Images", () => api.images.list(limit)],
    ["webhooks:read", "Endpoints", () => api.webhookEndpoints.list(limit)],
    ["webhooks:read", "Sources", () => api.webhookSources.list(limit)],
  ];
  const shown = lists.filter(([scope]) => scopes.includes(scope));
  return Promise.all(shown.map(async ([, name, read]) => [name, countText(await read())] as const));
}

function Preview() {
  const { data: credential } = useCredential();
  const scopes = credential?.scopes ?? [];
  const preview = useQuery({ queryKey: ["deletion-preview", scopes], queryFn: () => readPreview(scopes) });
  return (
    <Answer query={preview} what="preview">
      {(counts) => (
        <>
          <h3>What would be deleted</h3>
          <Pairs items={counts} />
        </>
      )}
    </Answer>
  );
}

const Disable = () => (
  <FormAction
    label="Disable …"
    title="Disable the account"
    submitLabel="Disable the account"
    isDanger
    what="account"
    initial={{ reason: "" }}
    fields={{
      reason: {
        ...reasonField("Shown with the account, in refusals and in the audit. Optional.", 500, false),
        rows: 3,
      },
    }}
    run={({ reason }) => api.account.disable({ status: "disabled", reason: reason.trim() || null })}
  >
    <p>Deliveries stop, and every key and client is refused until an administrator makes the account active again.</p>
  </FormAction>
);

function Delete() {
  const account = useQuery(accountQuery);
  const name = account.data?.data.display_name;
  return (
    <FormAction
      label="Delete …"
      isDisabled={name === undefined}
      title="Delete the account"
      submitLabel="Delete the account"
      isDanger
      what="account"
      initial={{ name: "" }}
      fields={{ name: { label: `Type ${name} to confirm`, required: true } }}
      isReady={(typed) => typed.name.trim() === name}
      run={() => api.account.delete()}
      onDone={() => forgetSession("The account is deleted. An administrator can undo this for a time.")}
    >
      <p>You are signed out, and nothing in this account works any more. Export its data first.</p>
    </FormAction>
  );
}
