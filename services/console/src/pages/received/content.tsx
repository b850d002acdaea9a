import { useQuery } from "@tanstack/react-query";
import { Answer } from "../../parts/answer.tsx";
import { Code } from "../../parts/code.tsx";
import { Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { headerLines } from "../header-lines.ts";
import { textOfBytes } from "./body-text.ts";

interface ContentProps {
  readonly headers: Parameters<typeof headerLines>[0];
  /** The name under which the body is remembered: it never changes. */
  readonly bodyKey: string;
  readonly readBody: () => Promise<Response>;
}

/** Headers and body of a webhook as they came, side by side. */
export function Content({ headers, bodyKey, readBody }: ContentProps) {
  const body = useQuery({
    queryKey: ["webhook-body", bodyKey],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => textOfBytes(new Uint8Array(await (await readBody()).arrayBuffer())),
  });
  return (
    <div className={parts.sides}>
      <Panel title="Headers">
        <Code text={headerLines(headers)} label="received headers" />
        <p className={parts.quiet}>Signatures and credentials are masked.</p>
      </Panel>
      <Panel title="Body">
        <Answer query={body} what="body" isEmpty={({ text }) => text === ""} empty={<p>It had no body.</p>}>
          {({ text, isText }) => (
            <>
              {!isText && <p>These bytes are not UTF-8 text; they are shown in base64.</p>}
              <Code text={text} label="received body" />
            </>
          )}
        </Answer>
      </Panel>
    </div>
  );
}
