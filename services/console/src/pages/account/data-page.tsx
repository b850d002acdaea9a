import { Curl } from "../../parts/lists.tsx";
import { useMay } from "../../session/api.ts";
import { AccountFrame } from "./account-frame.tsx";
import { Deletion } from "./deletion.tsx";
import { Export } from "./export.tsx";

/** The data of the account: all of it as a file, and its end. */
export function DataPage() {
  const maySecure = useMay("account:security");
  return (
    <AccountFrame title="Export and deletion">
      {maySecure ? (
        <>
          <Export />
          <Deletion />
        </>
      ) : (
        <p>This needs the scope account:security. Ask an administrator of your account for it.</p>
      )}
      <Curl path="api/account/export" />
    </AccountFrame>
  );
}
