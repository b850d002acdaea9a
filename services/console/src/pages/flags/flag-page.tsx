import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { Answer } from "../../parts/answer.tsx";
import { copied, Status, Time } from "../../parts/inline.tsx";
import { Page, Pairs, Panel } from "../../parts/page.tsx";
import parts from "../../parts/parts.module.css";
import { Actor } from "../properties/property-history.tsx";
import { ChangeFlag } from "./change-flag.tsx";
import { type Flag, type FlagChange, type FlagDefinition, flagsQuery } from "./flag.ts";
import { FlagHistory } from "./flag-history.tsx";
import { givesText } from "./flags-page.tsx";

/** A flag that everybody may start from. */
const example: FlagDefinition = {
  key: "my.flag",
  state: "enabled",
  type: "boolean",
  owner: "",
  description: "",
  expires: null,
  default: "off",
  off: "off",
  variants: [
    { name: "on", value: true },
    { name: "off", value: false },
  ],
  rules: [{ percentage: 10, variant: "on" }],
  schedule: null,
  prerequisites: [],
  salt: "",
};

/** One flag: who gets what, who changed it last, and a change that is tried first. */
export function FlagPage() {
  const { key } = useParams({ from: "/flags/$key" });
  const isNew = key === "new";
  const flags = useQuery({
    ...flagsQuery,
    select: (items) => items.find((flag) => flag.key === key) ?? null,
  });
  return (
    <Page title={isNew ? "Add a flag" : key} actions={<Link to="/flags">All flags</Link>}>
      {isNew ? (
        <ChangeFlag flag={example} revision="0" isExample />
      ) : (
        <Answer query={flags} what="flag">
          {(flag) =>
            flag === null ? (
              <Archived flagKey={key} />
            ) : (
              <>
                <Facts flag={flag} />
                <ChangeFlag flag={flag} revision={flag.revision} />
              </>
            )
          }
        </Answer>
      )}
    </Page>
  );
}

/** A flag that is not there: its history, from which a former version can be added again. */
function Archived({ flagKey: key }: { readonly flagKey: string }) {
  const [former, setFormer] = useState<FlagChange | null>(null);
  if (former?.flag) return <ChangeFlag flag={former.flag} revision="0" name={`flag of revision ${former.revision}`} />;
  return (
    <>
      <p className={parts.notice}>There is no flag with this key now. Code that asks for it gets its own default.</p>
      <FlagHistory flagKey={key} now={null} onBack={setFormer} />
    </>
  );
}

function Facts({ flag }: { readonly flag: Flag }) {
  const { key, state, owner, expires, revision, reason, actor, changedAt, description, type } = flag;
  return (
    <Panel title="State">
      {description && <p>{description}</p>}
      <Pairs
        items={[
          ["State", <Status key="">{state}</Status>],
          ["Gives", givesText(flag)],
          ["Variants", `${flag.variants.map(({ name }) => name).join(", ")}; ${type}`],
          ["Owner", owner],
          ["Review by", expires ?? "–"],
          ["Revision", revision],
          ["Changed", <Time key="" at={changedAt} />],
          ["By", <Actor key="" id={actor} />],
          ["Reason", reason ?? "–"],
          ["Key", copied(key)],
        ]}
      />
    </Panel>
  );
}
