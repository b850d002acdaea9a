import { useState } from "react";
import { Panel } from "../../parts/page.tsx";
import { type Overlap, Rotate } from "../../parts/rotate.tsx";
import { LiveSecrets } from "../../parts/secret.tsx";
import { api, dataOf } from "../../session/api.ts";

const choices: readonly Overlap[] = [
  [null, "hold until they expire"],
  [86_400, "hold for a day at most"],
  [3_600, "hold for an hour at most"],
  [0, "end now: one leaked"],
];

const rotate = async (seconds: number | null) => {
  const body = seconds === null ? {} : { overlap_seconds: seconds };
  return await dataOf(api.POST("/images/signing-keys/rotate", { body }));
};

/** The key that signs the account's image URLs. It never leaves the deployment; a new one ends the URLs of old ones. */
export function SigningKey() {
  const [made, setMade] = useState<Awaited<ReturnType<typeof rotate>> | null>(null);
  return (
    <Panel
      title="Signing key"
      actions={
        <Rotate
          label="Sign with a new key"
          what="signing key"
          text="New URLs are signed with a new key from now on. URLs of the key before the present one end at once."
          field="URLs of the present key"
          choices={choices}
          initial={null}
          rotate={rotate}
          onDone={setMade}
        />
      }
    >
      <p>Signed URLs show private images to those who have them. A new key takes back what older keys have signed.</p>
      {made && <LiveSecrets label="Signing keys" name="Key" secrets={made.secrets} since="Created" />}
    </Panel>
  );
}
