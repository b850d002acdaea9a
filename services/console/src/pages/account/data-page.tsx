import { useRef, useState } from "react";
import { Failure } from "../../parts/answer.tsx";
import { Button } from "../../parts/button.tsx";
import { Curl } from "../../parts/lists.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { saveFile } from "../../parts/save-file.ts";
import { useChange } from "../../parts/use-change.ts";
import { api, dataOf, useMay } from "../../session/api.ts";
import { bytesText } from "../image-queries.ts";
import { AccountFrame } from "./account-frame.tsx";
import { Deletion } from "./deletion.tsx";

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
        images, endpoints and sources. Secrets and the bytes of images are not in it. It needs a recent sign-in.
      </p>
      {download.isPending && <progress aria-label="Export" />}
      <p role="status" className={parts.quiet}>
        {download.isPending && `${bytesText(bytes)} so far …`}
        {download.data !== undefined && `Downloaded, ${bytesText(download.data)}, and complete.`}
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
  if (!/"complete":\s*true\s*}\s*$/.test(end)) throw new Error("The document broke off before its end.");
}
