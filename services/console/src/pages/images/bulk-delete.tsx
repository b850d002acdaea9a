import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Action } from "../../parts/dialog.tsx";
import { Id, Status } from "../../parts/inline.tsx";
import { Panel, Table } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { api, dataOf } from "../../session/api.ts";
import { ReceiptLink } from "../links.tsx";
import styles from "./images.module.css";

/** Images that are deleted together at most, as the API allows. */
export const chosenMax = 100;

interface Outcome {
  readonly id: string;
  readonly outcome: "deleted" | "missing";
}

/** Deletes the chosen images together, and says of each what became of it. */
export function BulkDelete({ chosen, clear }: { readonly chosen: ReadonlySet<string>; readonly clear: () => void }) {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const remove = async () => {
    const { items } = await dataOf(api.POST("/images/delete", { body: { ids: [...chosen] } }));
    setOutcomes(items);
  };
  const images = chosen.size === 1 ? "image" : "images";
  return (
    <>
      {chosen.size > 0 && (
        <section className={`${parts.row} ${styles.chosen}`} aria-label="Chosen images">
          <strong role="status">
            {chosen.size} {chosen.size === chosenMax ? `${images} chosen, which is the most` : `${images} chosen`}
          </strong>
          <Action
            label={`Delete ${chosen.size} ${images}`}
            what={images}
            kind="danger"
            confirm="The images and every form of them are gone at once, for everybody. This cannot be undone."
            run={remove}
            onDone={clear}
          />
          <Button label="Choose none" onClick={clear} />
        </section>
      )}
      {outcomes.length > 0 && (
        <Panel
          title="What became of them"
          actions={<Button label="Close" className="plain" onClick={() => setOutcomes([])} />}
        >
          <Table
            label="Outcomes of the deletion"
            rows={outcomes}
            keyOf={({ id }) => id}
            columns={{
              Image: ({ id }) => <Id value={id} />,
              Outcome: ({ outcome }) => (
                <Status tone={outcome === "deleted" ? "good" : "off"}>
                  {outcome === "deleted" ? "deleted" : "was gone before"}
                </Status>
              ),
              Receipt: ({ id, outcome }) =>
                outcome === "deleted" ? (
                  <ReceiptLink id={id}>receipt</ReceiptLink>
                ) : (
                  <span className={parts.quiet}>none</span>
                ),
            }}
          />
        </Panel>
      )}
    </>
  );
}
